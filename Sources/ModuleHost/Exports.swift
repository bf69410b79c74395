// Code that registers start-up work through a context names priorities and reads errors of AppService:
// one import is enough for a module.
@_exported public import AppService

// One import is enough for a program with a service group and a host in it, and for a module that runs a service.
// `Logging` is for the logger that the configuration of a group takes.
@_exported public import Logging
@_exported public import ModuleHostCore
@_exported public import ServiceLifecycle
@_exported public import UnixSignals

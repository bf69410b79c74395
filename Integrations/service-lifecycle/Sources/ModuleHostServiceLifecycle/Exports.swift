// One import is enough for a program with a service group and a host in it, and for a module that runs a service.
@_exported public import ModuleHostCore
@_exported public import ServiceLifecycle
@_exported public import UnixSignals

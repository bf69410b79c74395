// One import is enough for a program that chooses a backend and has a host.
@_exported public import ModuleHostCore
@_exported public import Tracing

// One import is enough for a program with a host and a logger, and for a module that gives libraries its log.
@_exported public import Logging
@_exported public import ModuleHostCore

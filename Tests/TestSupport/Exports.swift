// Tests of this package use a host, its clock and its log as authors of modules do.
@_exported public import ModuleHostTesting

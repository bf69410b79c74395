// Who imports ModuleHost has the whole host; who embeds one may import ModuleHostCore alone.
@_exported public import ModuleHostCore

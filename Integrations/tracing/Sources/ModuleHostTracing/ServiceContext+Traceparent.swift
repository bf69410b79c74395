public import ModuleHostCore
public import Tracing

extension ServiceContext {
    /// Creates a context that is a part of a trace.
    ///
    /// - Parameter traceparent: The trace, as W3C Trace Context has it; nil for none. The instrument of the program reads it.
    public init(traceparent: String?) {
        self = .topLevel
        InstrumentationSystem.instrument.extract(traceparent, into: &self)
    }

    /// The `traceparent` of the context, for an event that a program delivers or posts; nil where the instrument of the program
    /// writes none.
    public var traceparent: String? { InstrumentationSystem.instrument.traceparent(of: self) }
}

extension ModuleContext {
    /// The context of the current event or call, for spans of the module's own.
    ///
    /// ```swift
    /// withSpan("reserve", context: context.serviceContext) { _ in … }
    /// ```
    public var serviceContext: ServiceContext { ServiceContext(traceparent: traceparent) }
}

/// The forms of the metrics.
private enum MetricsFormat: String, CaseIterable {
    case text, json
}

extension ControlMethods {
    /// Adds `metrics`, the metrics of the host and its modules: `{"format": "text" | "json"}`.
    ///
    /// Without a format they are JSON, the result itself. Text, in the format of Prometheus, is a string.
    package mutating func addMetrics(of host: AppHost) {
        let desk = AnswerDesk<MetricsReading, MetricsDocument, MetricsFormat>("metrics") {
            $0.document
        } write: { document, format, json in
            switch format {
            case .json: document.write(to: &json)
            case .text: json.value(String(decoding: document.text, as: UTF8.self))
            }
        }
        add("metrics", FormatParameters<MetricsFormat>.self) { parameters, call in
            host.readMetrics { reading in
                guard let reading else { return call.reply.fail(RPCError(HostSilence.ended)) }
                desk.take(call.reply, parameters.format ?? .json, of: reading)
            }
        }
    }
}

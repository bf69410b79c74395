extension EventOutcome {
    init(_ tally: EventTally) {
        delivered = tally.delivered
        failed = tally.failed
        overdue = tally.overdue
        later = tally.later
        fetch = tally.fetch
        claimedBy = tally.claimedBy?.id
    }

    init(_ tally: EventTally, _ result: Result<AppHost.CallReply, any Error>) {
        self.init(tally)
        switch result {
        case .success(.json(let text)): reply = Array(text)
        case .success(.claimed(let module)): claimedBy = module
        case .failure(let error): failure = "\(error)"
        }
    }
}

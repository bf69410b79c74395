import ModuleHostCore

ModuleProgram.run(BridgeModule.self)

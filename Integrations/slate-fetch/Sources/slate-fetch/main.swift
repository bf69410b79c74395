import ModuleHostCore
import SlateFetch

SlateFetchCommand.run(Array(CommandLine.arguments.dropFirst()))
ModuleProgram.run(SlateFetchModule.self)

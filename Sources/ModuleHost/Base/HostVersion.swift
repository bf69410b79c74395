/// The version of this package: of the library and of every host that is built with it.
public enum HostVersion {
    /// The version, according to semantic versioning.
    public static let current = "0.1.0"
}

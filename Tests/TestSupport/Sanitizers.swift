import Glibc

/// Whether the test runs with a sanitizer, and so do the binaries that it starts: these write to files and
/// take signals before `main`, and stand before whatever else is loaded.
package let isSanitized = ["__tsan_init", "__asan_init"].contains { (name: String) in
    dlsym(nil, name) != nil
}

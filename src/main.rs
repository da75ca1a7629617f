//! The program: parse, dispatch, exit status.

fn main() -> std::process::ExitCode {
    sid_audit::cli::main(std::env::args_os()).into()
}

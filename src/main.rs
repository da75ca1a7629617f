//! The program: parse, dispatch, exit status.

fn main() -> std::process::ExitCode {
    std::process::ExitCode::SUCCESS
}

//! What a provider's API takes: whose rules judge a request, and what is known of them.

pub mod limits;
pub mod refusal;

/// Whose rules the next request is judged by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Api {
    /// Anthropic's, directly or through a cloud that hands them through.
    Anthropic,
    /// Of a provider that speaks OpenAI's protocol. Known of it: every call has its result and every result its call. Its
    /// other rules differ from provider to provider and are not known here.
    OpenAi,
    /// Another provider: its rules are not known here.
    Unknown,
}

/// Providers that speak OpenAI's protocol, by a word of their name.
const COMPATIBLE: &[&str] = &[
    "openai",
    "openrouter",
    "azure",
    "deepseek",
    "groq",
    "xai",
    "together",
    "fireworks",
    "cerebras",
    "mistral",
    "ollama",
    "lmstudio",
    "vllm",
    "llama.cpp",
    "moonshot",
    "kimi",
    "qwen",
    "dashscope",
    "zai",
    "minimax",
    "copilot",
];

impl Api {
    /// Whose rules judge what is sent to a model of this name: Claude's models are known by it, as providers and gateways
    /// spell it (`us.anthropic.claude-…`).
    pub fn of_model(model: &[u8]) -> Api {
        let lower = model.to_ascii_lowercase();
        let claude =
            memchr::memmem::find(&lower, b"claude-").is_some() || matches!(&*lower, b"opus" | b"sonnet" | b"haiku");
        if claude { Api::Anthropic } else { Api::Unknown }
    }

    /// Whose rules judge what is sent to this provider; a cloud that has many makers' models is told by the model.
    pub fn of_provider(provider: &str, model: Option<&[u8]>) -> Api {
        let provider = provider.to_ascii_lowercase();
        let has = |word: &&str| provider.contains(*word);
        if ["anthropic", "claude-"].iter().any(&has) {
            Api::Anthropic
        } else if ["bedrock", "vertex"].iter().any(&has) {
            model.map_or(Api::Unknown, Api::of_model)
        } else if COMPATIBLE.iter().any(has) {
            Api::OpenAi
        } else {
            Api::Unknown
        }
    }

    /// Whether it is known that each call needs its result and each result its call.
    pub fn pairs(self) -> bool {
        self != Api::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_told_by_its_name_and_a_cloud_by_its_model() {
        assert_eq!(Api::of_provider("Anthropic", None), Api::Anthropic);
        assert_eq!(Api::of_provider("amazon-bedrock", Some(b"us.anthropic.claude-x")), Api::Anthropic);
        assert_eq!(Api::of_provider("google-vertex", Some(b"gemini")), Api::Unknown);
        assert_eq!(Api::of_provider("openai-codex", None), Api::OpenAi);
        assert_eq!(Api::of_provider("demo", None), Api::Unknown);
        assert!(Api::OpenAi.pairs() && !Api::Unknown.pairs());
    }
}

//! M: messages. What stands in them besides calls: empty and blank texts, thinking, media, shape; judged, like T, on what
//! the agent would send. A defect that the agent leaves out is told as such; what stands off the chain is a note.
//!
//! `content` looks at texts and shapes, `thinking` at responses that think, `media` at images, documents and references,
//! `ends` at what the client itself put there. Calls and results are `tools`', lone surrogates `lines`'.

mod content;
mod ends;
mod media;
mod thinking;

pub use ends::made_up_tail;
pub use media::rule_of as rule_of_media;

use super::{Collector, Context, legal};
use crate::finding::{Doc, Fix, Rule, Severity};

/// The rules of this family.
pub static RULES: &[&Rule] = &[
    &EMPTY_TEXT,
    &BLANK_TEXT,
    &EMPTY_CONTENT,
    &THINKING_ONLY,
    &THINKING_MISPLACED,
    &BAD_SIGNATURE,
    &MISLABELLED_MEDIA,
    &UNDECODABLE_MEDIA,
    &OVERSIZED_MEDIA,
    &UNSUPPORTED_MEDIA,
    &BROKEN_DOCUMENT,
    &TOOL_REFERENCE,
    &SYNTHETIC_TAIL,
    &WRONG_SHAPE,
    &RETIRED_PERMISSION_MODE,
    &FAILED_TURN,
];

/// Finds them in one session.
pub fn check(context: &Context<'_>, found: &mut Collector) {
    let turns = content::Turns::new(context);
    let mut cases = Vec::new();
    content::judge(context, &turns, &mut cases);
    thinking::judge(context, &turns, &mut cases);
    media::judge(context, &mut cases);
    ends::judge(context, &mut cases);
    legal::settle(context, cases, found, |case, finding, _| match case.rule.code {
        "M404" | "M405" | "M406" => thinking::word(context, case, finding),
        "M407" | "M408" | "M409" | "M410" | "M411" | "M412" => media::word(context, case, finding),
        "M413" | "M415" | "M416" => ends::word(context, case, finding),
        _ => content::word(context, case, finding),
    });
}

pub(crate) static EMPTY_TEXT: Rule = Rule {
    code: "M401",
    name: "empty-text",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
    doc: Doc {
        what: "A text block with nothing in it, or a message whose content is an empty string: beside calls, images or thinking, or alone.",
        arises: "A stream was cut before the first word, a hook or an adapter wrote an empty answer, or a text was filtered away.",
        agent: "Claude Code sends it as it stands. sid-code (3f3215144f68) drops messages of the model without any block (layer 5 of its cleaning) and keeps an empty text block. pi (read in its source, 1.x) leaves texts of white space only out of a request to Anthropic, and the message when nothing is left of it.",
        repair: "The block leaves its message; where it stood alone, a placeholder text takes its place, so that the order of speakers stays.",
        loses: "Nothing.",
        error_text: Some(
            "messages: text content blocks must be non-empty; or: cache_control cannot be set for empty text blocks",
        ),
    },
};

pub(crate) static BLANK_TEXT: Rule = Rule {
    code: "M402",
    name: "blank-text",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
    doc: Doc {
        what: "A text of white space only that is all its message or response has to say. Beside other blocks, in a response that was interrupted, or at the very end of the history it is a note.",
        arises: "A person sent a blank prompt, or a response was cut after its first line feeds. Claude Code 2.1.17 to 2.1.44 wrote two line feeds as the first block of many responses, which stopped no session.",
        agent: "Claude Code's clients drop a blank text beside other blocks and send one that stands alone. sid-code (3f3215144f68) keeps blank texts through its cleaning (s81). pi (read in its source, 1.x) leaves them out of a request to Anthropic, and the message when nothing is left of it. OpenClaw (2026.7.35) rewrites a blank prompt in the file as \"(continue)\".",
        repair: "A placeholder text takes its place.",
        loses: "White space.",
        error_text: Some("messages: text content blocks must contain non-whitespace text"),
    },
};

pub(crate) static EMPTY_CONTENT: Rule = Rule {
    code: "M403",
    name: "empty-content",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
    doc: Doc {
        what: "A message without any block. The last message may be one, if the model speaks it.",
        arises: "A response ended before its first block, or everything in it was filtered away.",
        agent: "Claude Code sends it as it stands. sid-code (3f3215144f68) drops such messages of the model when it loads (layer 5 of its cleaning) and keeps those of the user. pi (read in its source, 1.x) leaves them out of a request to Anthropic. OpenClaw (2026.7.35) fills empty failed turns in the file.",
        repair: "A placeholder text is put in, so that the order of speakers stays.",
        loses: "Nothing.",
        error_text: Some(
            "messages.N: all messages must have non-empty content except for the optional final assistant message",
        ),
    },
};

pub(crate) static THINKING_ONLY: Rule = Rule {
    code: "M404",
    name: "thinking-only",
    severity: Severity::Warning,
    fix: Some(Fix::Content),
    since: "0.1.0",
    doc: Doc {
        what: "A response that thinks and says nothing: no text, no call. Not told where more of the response follows, where it was interrupted, answered by an error notice, cut by the token limit, or is the last message.",
        arises: "The rest of the response was never written: the process was killed, or the line is lost.",
        agent: "sid-code (3f3215144f68) drops the message when it loads (layer 4 of its cleaning). Claude Code and pi (1.6.0) send it; the model reads its own thinking and no answer.",
        repair: "The message leaves and goes to quarantine; its child is linked to its parent.",
        loses: "The thinking, which led to no answer that is in the file.",
        error_text: None,
    },
};

pub(crate) static THINKING_MISPLACED: Rule = Rule {
    code: "M405",
    name: "thinking-misplaced",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
    doc: Doc {
        what: "Thinking of one response stands behind something that is no part of it: a tool result, a prompt, another response. When the rows of the response are put together by their message id, its blocks no longer are as the model made them. Results between the rows of a response that is still streaming are normal as long as no thinking follows them.",
        arises: "A gateway gives one message id to several responses. Rows were appended by two processes, or a lost row was put back at the wrong place.",
        agent: "Claude Code merges rows of one message id and sends the blocks in the order of the chain. The open SDK (0.2.189) puts rows of a response that the way up does not meet behind its last row. sid-code and pi write one record per response, so the case does not arise there.",
        repair: "The thinking blocks of that response leave and go to quarantine; the API does not ask for thinking in earlier turns.",
        loses: "The model's thinking of that response.",
        error_text: Some(
            "messages.N.content.M: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response",
        ),
    },
};

pub(crate) static BAD_SIGNATURE: Rule = Rule {
    code: "M406",
    name: "bad-signature",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
    doc: Doc {
        what: "A thinking block with text whose signature is missing, empty, or no signature at all (a foreign provider's marker such as reasoning_content), in a response of a Claude model; with another model it is a note. Thinking with no text and a signature is normal: current clients keep no thinking text.",
        arises: "The session went through a gateway or another provider's model, whose thinking carries no signature, and then on to Claude. A stream ended before the signature came.",
        agent: "Claude Code and sid-code (3f3215144f68) send the block as it stands. pi (read in its source, 1.x) sends thinking without a signature as plain text, drops or rewrites thinking of other models, and sends a foreign marker as it stands.",
        repair: "The block leaves its message and goes to quarantine; where it stood alone, so does the record.",
        loses: "The text of that thinking.",
        error_text: Some("messages.N.content.M: Invalid `signature` in `thinking` block"),
    },
};

pub(crate) static MISLABELLED_MEDIA: Rule = Rule {
    code: "M407",
    name: "mislabelled-media",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
    doc: Doc {
        what: "The bytes of an image are of a supported type, but of another one than its label says.",
        arises: "A tool or a paste trusted the file name: a JPEG or WebP called .png.",
        agent: "All agents send the block as it stands; so does every later request, because the image stays in the history.",
        repair: "The label is set to what the bytes are.",
        loses: "Nothing.",
        error_text: Some(
            "messages.N.content.M.image.source.base64.data: Image does not match the provided media type image/png",
        ),
    },
};

pub(crate) static UNDECODABLE_MEDIA: Rule = Rule {
    code: "M408",
    name: "undecodable-media",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
    doc: Doc {
        what: "An image whose data is no base64, or whose bytes are none of PNG, JPEG, GIF and WebP. Only alphabet, length and header are looked at: a clean header is no proof that the API can decode the picture.",
        arises: "A download answered with an error page or SVG, the data was cut, or a placeholder was written in its place.",
        agent: "sid-code, Claude Code and pi send it as it stands. OpenClaw (2026.7.35) takes images with broken base64 out of the file before it loads it.",
        repair: "A text note with size and SHA-256 takes its place; the bytes go to quarantine.",
        loses: "The block, which no model could see.",
        error_text: Some("messages.N.content.M.image.source.base64.data: Could not process image"),
    },
};

pub(crate) static OVERSIZED_MEDIA: Rule = Rule {
    code: "M409",
    name: "oversized-media",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
    doc: Doc {
        what: "An image over 5 242 880 base64 bytes, or over 8000 pixels on a side. Many images in one request have a lower limit (2000 pixels), which is not judged here.",
        arises: "A screenshot of a whole page, a photograph, or a scan was read or pasted at full size.",
        agent: "All agents send it as it stands. Claude Code's clients shrink most images before they store them.",
        repair: "A text note with size and SHA-256 takes its place; the bytes go to quarantine.",
        loses: "The image, for the model; it can be taken from quarantine.",
        error_text: Some(
            "image exceeds 5 MB maximum; or: At least one of the image dimensions exceed max allowed size: 8000 pixels",
        ),
    },
};

pub(crate) static UNSUPPORTED_MEDIA: Rule = Rule {
    code: "M410",
    name: "unsupported-media",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
    doc: Doc {
        what: "An image whose label is none of image/png, image/jpeg, image/gif and image/webp, or is missing.",
        arises: "An SVG, BMP, TIFF or HEIC file was read or pasted, or a tool left the label out.",
        agent: "All agents send it as it stands.",
        repair: "Where the bytes are of a supported type, the label is set; else a text note with size and SHA-256 takes its place, and the bytes go to quarantine.",
        loses: "The image, for the model, where it is of no supported type.",
        error_text: Some(
            "messages.N.content.M.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
        ),
    },
};

pub(crate) static BROKEN_DOCUMENT: Rule = Rule {
    code: "M411",
    name: "broken-document",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
    doc: Doc {
        what: "A PDF that does not begin with %PDF, has no %%EOF in its last bytes, or is no base64.",
        arises: "A download was cut, or an error page was stored under a PDF's name.",
        agent: "All agents send it as it stands. Claude Code then answers every prompt with the same made-up notice.",
        repair: "A text note with size and SHA-256 takes its place; the bytes go to quarantine.",
        loses: "The document, for the model; it can be taken from quarantine.",
        error_text: Some("messages.N.content.M.document.source.base64.data: The PDF specified was not valid"),
    },
};

pub(crate) static TOOL_REFERENCE: Rule = Rule {
    code: "M412",
    name: "tool-reference",
    severity: Severity::Info,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "A reference to a tool that was found by a search. If the tool is gone (its server is not connected any more), older clients are refused; the file alone cannot tell.",
        arises: "Claude Code loads tools on demand: a tool search answers with references.",
        agent: "Claude Code up to about 2.1.232 sends the reference and is refused when the tool is gone; from 2.1.233 on it drops stale references (a maintainer's word, not run). Other agents do not write them.",
        repair: "Nothing.",
        loses: "Nothing is changed.",
        error_text: Some("messages.N.content.M: Tool reference 'x' not found in available tools"),
    },
};

pub(crate) static SYNTHETIC_TAIL: Rule = Rule {
    code: "M413",
    name: "synthetic-tail",
    severity: Severity::Warning,
    fix: Some(Fix::Content),
    since: "0.1.0",
    doc: Doc {
        what: "The session ends in a record that the client made up. One notice (a usage limit, an error of the API) is a note; several of them, or made-up replies (\"No response requested.\"), are a warning.",
        arises: "The request failed and the client wrote a notice in the model's place. Each resume of an unfinished turn adds a made-up pair.",
        agent: "Claude Code's clients take notices for their own and go on from them; some versions name the notice's id as the previous message and are refused, since it is no id of the API's. The open SDK (0.2.189) shows it as the last answer.",
        repair: "The trailing made-up records leave and go to quarantine, so that the session ends in what was really said.",
        loses: "The notices.",
        error_text: Some("previous_message_id: must be the id of a message (msg_…)"),
    },
};

pub(crate) static WRONG_SHAPE: Rule = Rule {
    code: "M414",
    name: "wrong-shape",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
    doc: Doc {
        what: "A message record whose message is missing or no object, whose role is missing or no known one, or whose content is null, missing, neither text nor a list, or a list with something in it that is no block.",
        arises: "Another program wrote into the session, a migration left fields out, or an adapter stored what a provider sent without looking.",
        agent: "sid-code (3f3215144f68) loads such a session, and then its cleaning throws on the content: the resume fails (s84); beside record-level fields the loader itself throws (s85). Claude Code sends it as it stands. pi (1.6.0) takes null content for none and drops messages of unknown roles; 0.73.1 crashes on null content, and both raise where the message is missing. OpenClaw (2026.7.35) drops messages without a role.",
        repair: "Content that is null or missing becomes an empty list or a placeholder; a text is wrapped; a record that is no message at all leaves, and its child is linked to its parent.",
        loses: "What could not be read as a message; it goes to quarantine.",
        error_text: Some(
            "messages.N.content: Input should be a valid list; or: messages.N.role: Input should be 'user' or 'assistant'",
        ),
    },
};

pub(crate) static RETIRED_PERMISSION_MODE: Rule = Rule {
    code: "M415",
    name: "retired-permission-mode",
    severity: Severity::Info,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "A message of a sid-code session carries a permission mode that the agent no longer knows.",
        arises: "It was written by an older version, or by another program.",
        agent: "sid-code (3f3215144f68) clears it when it loads (layer 2 of its cleaning) and keeps the message; it knows default, acceptEdits, bypassPermissions, plan and always-allow. The permission mode is not restored by a resume in any case.",
        repair: "Nothing.",
        loses: "Nothing is changed.",
        error_text: None,
    },
};

pub(crate) static FAILED_TURN: Rule = Rule {
    code: "M416",
    name: "failed-turn",
    severity: Severity::Info,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "A turn of the model that ended in an error or was aborted, with nothing in it.",
        arises: "The provider was overloaded, the network was away, or a person stopped the turn before its first word.",
        agent: "pi (0.73.1 and 1.6.0) leaves it out of the request. OpenClaw (2026.7.35) fills it with a text in the file.",
        repair: "Nothing.",
        loses: "Nothing is changed.",
        error_text: None,
    },
};

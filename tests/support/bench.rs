//! The store on which speed is measured: healthy sessions of Claude Code, sizes log-normal around 2 MB, with the mix that
//! costs a reader most: long tool output full of escapes, short records, pictures, parallel calls.

use super::random::Rng;
use super::time::iso;
use serde_json::{Value, json};
use std::fs::{File, create_dir_all};
use std::io::{BufWriter, Write};
use std::path::Path;

/// Writes a home of about so many bytes; `giant`: and one more session of that size.
pub fn write_store(root: &Path, bytes: u64, giant: Option<u64>) {
    let mut rng = Rng::new(7);
    let image = png(&mut rng, 180);
    let (mut done, mut n) = (0, 0);
    while done < bytes {
        let want = ((rng.log_normal() * 2e6) as u64).min(bytes - done);
        done += write_session(root, &format!("demo{}", n % 7), &mut rng, &image, want);
        n += 1;
    }
    if let Some(giant) = giant {
        write_session(root, "giant", &mut rng, &image, giant);
    }
}

fn write_session(root: &Path, name: &str, rng: &mut Rng, image: &str, want: u64) -> u64 {
    let folder = root.join("projects").join(format!("-home-dev-{name}"));
    create_dir_all(&folder).expect("the folder can be made");
    let id = rng.uuid();
    let file = File::create(folder.join(format!("{id}.jsonl"))).expect("the file can be made");
    let clock = 1_785_542_400_000 + rng.below(2_000_000) as i64 * 1000;
    let cwd = format!("/home/dev/{name}");
    let mut s =
        Session { rng, image, file: BufWriter::new(file), id, cwd, clock, parent: None, size: 0, line: Vec::new() };
    while s.size < want {
        s.turn();
    }
    s.file.flush().expect("the file can be written");
    s.size
}

struct Session<'a> {
    rng: &'a mut Rng,
    image: &'a str,
    file: BufWriter<File>,
    id: String,
    cwd: String,
    clock: i64,
    parent: Option<String>,
    size: u64,
    line: Vec<u8>,
}

impl Session<'_> {
    fn write(&mut self, row: &Value) {
        self.line.clear();
        serde_json::to_writer(&mut self.line, row).expect("writing to memory");
        self.line.push(b'\n');
        self.file.write_all(&self.line).expect("the file can be written");
        self.size += self.line.len() as u64;
    }

    fn record(&mut self, kind: &str, parent: Option<String>, own: Value) {
        self.clock += self.rng.range(20, 9000) as i64;
        let uuid = self.rng.uuid();
        let mut row = json!({"parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": self.cwd,
            "sessionId": self.id, "version": "2.1.200", "gitBranch": "main", "type": kind});
        if let (Some(row), Value::Object(own)) = (row.as_object_mut(), own) {
            row.extend(own);
        }
        row["uuid"] = json!(uuid);
        row["timestamp"] = json!(iso(self.clock));
        self.write(&row);
        self.parent = Some(uuid);
    }

    fn turn(&mut self) {
        let words = self.rng.range(5, 60);
        let mut content = vec![json!({"type": "text", "text": self.rng.prose(words)})];
        if self.rng.chance(0.03) {
            let source = json!({"type": "base64", "media_type": "image/png", "data": self.image});
            content.push(json!({"type": "image", "source": source}));
        }
        let parent = self.parent.clone();
        self.record("user", parent, json!({"message": {"role": "user", "content": content}}));
        for _ in 0..self.rng.range(1, 12) {
            self.step();
        }
        let (words, message) = (self.rng.range(5, 120), self.rng.hex(22));
        let block = json!({"type": "text", "text": self.rng.prose(words)});
        self.say(&block, &message, Some("end_turn"));
        if self.rng.chance(0.3) {
            let row = json!({"type": "last-prompt", "lastPrompt": self.rng.prose(6), "sessionId": self.id});
            self.write(&row);
        }
    }

    fn say(&mut self, block: &Value, message: &str, stop: Option<&str>) {
        let usage = json!({"input_tokens": self.rng.range(1, 99),
            "cache_creation_input_tokens": self.rng.below(10_000), "cache_read_input_tokens": self.rng.below(100_000),
            "output_tokens": self.rng.range(1, 900), "service_tier": "standard"});
        let message = json!({"model": "claude-opus-4-6", "id": format!("msg_{message}"), "type": "message",
            "role": "assistant", "content": [block], "stop_reason": stop, "stop_sequence": null, "usage": usage});
        let own = json!({"message": message, "requestId": format!("req_{}", self.rng.hex(20))});
        let parent = self.parent.clone();
        self.record("assistant", parent, own);
    }

    fn step(&mut self) {
        let (message, calls) = (self.rng.hex(22), *self.rng.pick(&[1, 1, 1, 2, 3]));
        let words = self.rng.range(3, 40);
        let text = json!({"type": "text", "text": self.rng.prose(words)});
        self.say(&text, &message, None);
        let mut open = Vec::new();
        for _ in 0..calls {
            let id = format!("toolu_{}", self.rng.hex(24));
            let path = format!("{}/src/{}.rs", self.cwd, self.rng.word());
            let block = json!({"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": path}});
            self.say(&block, &message, Some("tool_use"));
            open.push((id, self.parent.clone()));
        }
        for (id, owner) in open {
            let lines = *self.rng.pick(&[0, 1, 1, 3, 10, 40, 120, 400]);
            let body = if lines == 0 { "ok".to_owned() } else { self.rng.code(lines) };
            let file = json!({"filePath": format!("{}/a.rs", self.cwd), "content": body, "numLines": 3, "startLine": 1,
                "totalLines": 3});
            let block = json!({"tool_use_id": id, "type": "tool_result", "content": body});
            let own = json!({"message": {"role": "user", "content": [block]},
                "toolUseResult": {"type": "text", "file": file}, "sourceToolAssistantUUID": owner});
            self.record("user", owner, own);
        }
    }
}

/// A picture of noise, so that its base64 is as long as that of a screenshot.
fn png(rng: &mut Rng, side: u32) -> String {
    let mut rows = Vec::new();
    for _ in 0..side {
        rows.push(0);
        rows.extend((0..side * 3).map(|_| rng.below(256) as u8));
    }
    let mut deflate = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    deflate.write_all(&rows).expect("writing to memory");
    let data = deflate.finish().expect("writing to memory");
    let mut head = Vec::new();
    head.extend_from_slice(&side.to_be_bytes());
    head.extend_from_slice(&side.to_be_bytes());
    head.extend_from_slice(&[8, 2, 0, 0, 0]);
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, body) in [(b"IHDR", &head), (b"IDAT", &data), (b"IEND", &Vec::new())] {
        let mut crc = flate2::Crc::new();
        crc.update(kind);
        crc.update(body);
        out.extend_from_slice(&(body.len() as u32).to_be_bytes());
        out.extend_from_slice(kind);
        out.extend_from_slice(body);
        out.extend_from_slice(&crc.sum().to_be_bytes());
    }
    base64(&out)
}

/// Base64 with padding.
pub fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().enumerate().fold(0u32, |sum, (n, b)| sum | u32::from(*b) << (16 - 8 * n));
        for n in 0..4 {
            let digit = ALPHABET[(group >> (18 - 6 * n) & 63) as usize] as char;
            out.push(if n <= chunk.len() { digit } else { '=' });
        }
    }
    out
}

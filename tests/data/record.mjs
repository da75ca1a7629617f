// Records what JavaScript makes of odd lines: `node tests/data/record.mjs > tests/data/javascript.jsonl`.
// See README.md beside it. No randomness: the same Node gives the same bytes.

const utf8 = new TextEncoder();
const seen = new Set();
const out = [];

/** A line as bytes; latin1 strings stand for bytes one to one. */
const bytes = (line) => typeof line === "string" ? Buffer.from(line, "latin1") : Buffer.from(line);
const text = (line) => Buffer.from(utf8.encode(line));

/** Strings in the way of JSON.stringify, keys in order, numbers as JavaScript has them; nesting beyond `DEEP` is only counted. */
const DEEP = 200;

function depth(line) {
    let now = 0, most = 0;
    for (const b of line) {
        if (b === 0x5b || b === 0x7b) most = Math.max(most, ++now);
        if (b === 0x5d || b === 0x7d) now--;
    }
    return most;
}

function add(line) {
    const raw = bytes(line);
    const hex = raw.toString("hex");
    if (seen.has(hex)) return;
    seen.add(hex);
    // As the agents read a file: UTF-8 with U+FFFD for what is not; a byte order mark is kept, as Node keeps it.
    const decoded = new TextDecoder("utf-8", { ignoreBOM: true }).decode(raw);
    const row = { hex, ok: true, stringify: null };
    try {
        const value = JSON.parse(decoded);
        row.stringify = depth(raw) > DEEP ? null : JSON.stringify(value);
    } catch {
        row.ok = false;
    }
    out.push(JSON.stringify(row));
}

// Records of each agent, short but with every kind of token in them.
const seeds = [
    `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"caf\u00e9 \u{1f680} \\u00e9\\ud83d\\ude80\\n"},"uuid":"u1","n":[0,-1.5e+3,true,false,null,{}]}`,
    `{"type":"metadata","key":"k","value":{"a":[],"b":"\\\\\\"\\/\\b\\f\\r\\t"},"uuid":"u2","parentUuid":"u1"}`,
    `{"type":"message","id":"aaaa0001","parentId":null,"message":{"role":"toolResult","content":[{"type":"text","text":"\u2028"}]}}`,
];

// Every truncation, and every byte flipped, dropped, doubled, made a quote, a NUL, a brace or a byte that starts nothing.
for (const seed of seeds) {
    const raw = text(seed);
    add(raw);
    for (let n = 0; n < raw.length; n++) {
        add(raw.subarray(0, n));
        add(raw.subarray(n));
        for (const byte of [raw[n] ^ 1, raw[n] ^ 0x20, raw[n] ^ 0x80, 0x22, 0x00, 0x7d, 0xff, 0x5c]) {
            const copy = Buffer.from(raw);
            copy[n] = byte;
            add(copy);
        }
        add(Buffer.concat([raw.subarray(0, n), raw.subarray(n + 1)]));
        add(Buffer.concat([raw.subarray(0, n), raw.subarray(n, n + 1), raw.subarray(n)]));
    }
    add(Buffer.concat([raw, raw]));
    add(Buffer.concat([raw.subarray(0, 20), raw]));
}

// Numbers.
const numbers = ["0", "-0", "-", "+1", "01", "-01", "1.", ".1", "1.5", "1e", "1e+", "1e5", "1E-5", "1e400", "-1e400", "1e-400",
    "9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740993", "123456789012345678901234567890",
    "0.1", "0.30000000000000004", "1.7976931348623157e308", "1.7976931348623159e308", "5e-324", "2e-324", "1e21", "1e20",
    "100000000000000000000", "1000000000000000000000", "0.000001", "0.0000001", "1.0", "-1.0", "1e0", "00", "0x10", "0b1", "1_000",
    "NaN", "Infinity", "-Infinity", "undefined", "0.0", "-0.0", "0e0", "4.35", "2.2250738585072011e-308", "1e23", "8.5e22",
    "1" + "0".repeat(310), "0." + "0".repeat(330) + "1", "1e00005", "1e-00005", "12345678901234567890.123456789e-5"];
for (const n of numbers) for (const frame of [[``, ``], [`[`, `]`], [`{"n":`, `}`], [` `, ` `], [`[1,`, `,2]`]]) add(frame[0] + n + frame[1]);

// Strings: escapes, surrogates, control characters, separators.
const escapes = ["\\u0000", "\\u001f", "\\u0020", "\\u007f", "\\u0080", "\\u2028", "\\ud800", "\\udbff", "\\udc00", "\\udfff", "\\ud83d\\ude00",
    "\\ude00\\ud83d", "\\ud83d\\ud83d\\ude00", "\\ud83dx\\ude00", "\\ud83d\\u0041", "\\uD83D\\uDE00", "\\ud83", "\\u", "\\uzzzz", "\\u 041", "\\u+041",
    "\\x41", "\\0", "\\'", "\\\"", "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t", "\\v", "\\a", "\\", "\\\n", "\\u{41}", "\\U0041"];
for (const e of escapes) for (const frame of [[`"`, `"`], [`{"k":"a`, `b"}`], [`{"`, `":1}`], [`["`, `","x"]`]]) add(frame[0] + e + frame[1]);
for (let b = 0; b < 256; b++) {
    const c = String.fromCharCode(b);
    for (const frame of [[`"`, `"`], [``, `{}`], [`{}`, ``], [`{"a":1,`, `"b":2}`], [`[1`, `2]`]]) add(frame[0] + c + frame[1]);
}
for (const point of [0x85, 0xa0, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff, 0xfffd, 0xffff, 0x10ffff, 0x200b, 0x180e]) {
    const c = String.fromCodePoint(point);
    for (const frame of [[`"`, `"`], [``, `{}`], [`{}`, ``], [`{"a":`, `1}`], [`{"`, `":1}`]]) add(text(frame[0] + c + frame[1]));
}

// Bytes that are no UTF-8: each is one U+FFFD or several, and that decides how long a string is.
const invalid = ["\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x20", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xe2\x82", "\xe2\x82\xe2\x82\xac", "\xed\xa0\x80",
    "\xed\xa0\xbd\xed\xb8\x80", "\xed\xbf\xbf", "\xef\xbf", "\xef\xbb\xbf", "\xf0\x80\x80\x80", "\xf0\x9f\x98", "\xf0\x9f\x98\x22", "\xf0\x9f", "\xf4\x8f\xbf\xbf", "\xf4\x90\x80\x80",
    "\xf5\x80\x80\x80", "\xf8\x88\x80\x80\x80", "\xfe", "\xff", "\xff\xfe", "\xc3\x28", "\xa0\xa1", "\xe2\x28\xa1", "\xf0\x28\x8c\xbc", "\xf0\x90\x28\xbc", "\xf0\x28\x8c\x28"];
for (const i of invalid) for (const frame of [[`"`, `"`], [`{"k":"a`, `b"}`], [``, `{}`], [`{}`, ``], [`{"`, `":1}`], [`{"a":`, `}`]]) add(frame[0] + i + frame[1]);

// Objects and keys: the last of equal keys counts and stands where the first stood; numbers as keys come first.
for (const o of [`{"a":1,"a":2}`, `{"a":1,"b":2,"a":3}`, `{"b":1,"a":2}`, `{"2":1,"1":2,"a":3,"0":4}`, `{"01":1,"1":2}`, `{"4294967294":1,"1":2}`,
    `{"4294967295":1,"1":2}`, `{"-1":1,"1":2}`, `{"__proto__":1}`, `{"__proto__":{"a":1}}`, `{"constructor":1,"toString":2}`, `{"":1}`, `{"a":{},"a":[]}`,
    `{"a":1,}`, `{,}`, `{"a"}`, `{"a":}`, `{"a" 1}`, `{a:1}`, `{'a':1}`, `{"a":1 "b":2}`, `{"a":1;"b":2}`, `{"a":1}}`, `{{}}`, `{"a":1}{"b":2}`,
    `{"a":1} {"b":2}`, `{"a":1},{"b":2}`, `[]`, `[,]`, `[1,]`, `[1 2]`, `[[]`, `[]]`, `[}`, `{]`, `null`, `true`, `nul`, `nulll`, `True`, `tru e`, `"a"`, `"a`, `a"`, `""`,
    `'a'`, `1 2`, ``, ` `, `\t`, `\r`, `\n`, `\r\n`, ` {} `, `\t{}\t`, `{}\r`, `\r{}`, `{}\n`, `\n{}`, `{}\r\n`, `{\r"a"\r:\r1\r}`, `{\n"a":1}`, `{"a\nb":1}`, `{"a":"b\rc"}`,
    `{"a":"b\tc"}`, `/* c */{}`, `{}// c`, `{"a":1/**/}`, `{"\\u0061":1,"a":2}`, `{"a":1,"\\u0061":2}`, `{"\\ud800":1,"\\udc00":2}`, `{"\\ud83d\\ude00":1}`,
    `\x00{}`, `{}\x00`, `{}\x00\x00\x00`, `\x00\x00{"a":1}`, `{"a":\x001}`, `\x00`, `\xef\xbb\xbf{}`, `\xef\xbb\xbf`, `\xef\xbb\xbf\xef\xbb\xbf{}`, `{}\xef\xbb\xbf`, `\xfe\xff`, `\x0b{}`, `\x0c{}`, `{}\x0b`]) add(o);

// Depth: what is beyond `DEEP` says only whether it was read.
for (const n of [1, 2, 63, 64, 127, 128, 129, 200, 1000, 5000]) {
    add("[".repeat(n) + "]".repeat(n));
    add(`{"a":`.repeat(n) + "1" + "}".repeat(n));
    add(`[{"a":`.repeat(n) + "null" + "}]".repeat(n));
    add("[".repeat(n) + "]".repeat(n - 1));
    add("[".repeat(n) + "]".repeat(n + 1));
}

process.stdout.write(out.join("\n") + "\n");

//! Reads arbitrary bytes, or the built-in network with arbitrary changes, as a network file. The
//! file must either be rejected or be read exactly as it is. If it is read, the incremental
//! evaluation must give the same score as the plain one, without overflow.
//!
//! An input that does not begin like a network file is a list of changes to the built-in file. Each
//! change has six bytes: the offset (3), the binary logarithm of the number of 16-bit values to
//! replace (1), and the new value (2). Any remaining bytes change the length of the file.

#![no_main]

use std::sync::LazyLock;

use tabia::eval::Network;
use tabia::fuzz::network::evaluate;
#[cfg(feature = "libfuzzer")]
use tabia_fuzz::Bounded;
use tabia_fuzz::{fuzz_target, seed};

/// Allocations are limited to 4 MiB. A network takes about 400 kB, and reading it takes a few times
/// as much.
#[cfg(feature = "libfuzzer")]
#[global_allocator]
static ALLOCATOR: Bounded = Bounded { most: 4 << 20 };

static BUILT_IN: LazyLock<Vec<u8>> = LazyLock::new(|| Network::embedded().to_bytes());

/// Applies the changes in `bytes` to the built-in network file, and returns the result.
fn damaged(bytes: &[u8]) -> Vec<u8> {
    let mut file = BUILT_IN.clone();
    let (changes, rest) = bytes.as_chunks::<6>();
    for &[a, b, c, count, low, high] in changes {
        let at = u32::from_le_bytes([a, b, c, 0]) as usize % file.len();
        let words = file[at..].as_chunks_mut().0;
        let words = words.iter_mut().take(1 << (count % 19));
        words.for_each(|word| *word = [low, high]);
    }
    match *rest {
        [0, count, ..] => file.truncate(file.len() - usize::from(count)),
        [_, count, ..] => file.extend(vec![0; count.into()]),
        _ => {}
    }
    file
}

fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let head = BUILT_IN.iter().position(|&byte| byte == b'\n').expect("a headline") + 1;
    // The approximate offset of the output weights. One seed replaces them, because their range is
    // limited.
    let outputs = (BUILT_IN.len() as u32 - 8_000).to_le_bytes();
    vec![
        ("unchanged", Vec::new()),
        ("head", BUILT_IN[..head].to_vec()),
        ("largest", [[0x00, 0x01, 0, 18, 0xff, 0x7f]].concat()),
        ("smallest", [[0x00, 0x01, 0, 18, 0x00, 0x80]].concat()),
        ("outputs", [&outputs[..3], &[11, 127, 0]].concat()),
        ("shorter", vec![0, 1]),
    ]
}

fuzz_target!(init: seed(seeds()), |bytes: &[u8]| {
    let file = if bytes.starts_with(b"tabia") { bytes.to_vec() } else { damaged(bytes) };
    match Network::from_bytes(&file) {
        Ok(network) => {
            assert!(network.to_bytes() == file, "the written file differs from the one read");
            evaluate(network);
        }
        Err(error) => assert_eq!(error.to_string().lines().count(), 1),
    }
});

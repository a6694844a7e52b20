//! Signatures as Standard Webhooks has them: HMAC-SHA256 over `id.timestamp.body`.

use crate::entropy::Entropy;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use edgewise_core::time::{Millis, Time};
use edgewise_core::{Error, Result};
use ring::hmac;

/// How old, or how far ahead, a signature may be: an older one may be a replay.
pub const TOLERANCE: Millis = Millis(5 * 60_000);

const PREFIX: &str = "whsec_";
const VERSION: &str = "v1,";

/// What both sides know.
#[derive(Clone)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// A new one, of 32 bytes that nobody could have known before.
    pub fn new(entropy: &mut Entropy) -> Self {
        let mut bytes = entropy.bits().to_le_bytes().to_vec();
        bytes.extend(entropy.bits().to_le_bytes());
        Self(bytes)
    }

    /// Reads `whsec_` and base64.
    pub fn parse(text: &str) -> Result<Self> {
        let bytes = text.strip_prefix(PREFIX).and_then(|text| STANDARD.decode(text).ok());
        bytes.filter(|bytes| (16..=128).contains(&bytes.len())).map(Self).ok_or_else(|| {
            Error::invalid("bad_secret", "a secret is `whsec_` and 16 to 128 bytes as base64: let one be made for you")
        })
    }

    /// As it is shown, once.
    pub fn text(&self) -> String {
        format!("{PREFIX}{}", STANDARD.encode(&self.0))
    }

    /// The signature of a message, for the header `webhook-signature`.
    pub fn sign(&self, id: &str, seconds: u64, body: &str) -> String {
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &self.0), signed(id, seconds, body).as_bytes());
        format!("{VERSION}{}", STANDARD.encode(tag))
    }
}

fn signed(id: &str, seconds: u64, body: &str) -> String {
    format!("{id}.{seconds}.{body}")
}

/// A secret that was changed, and until when messages are signed with it as well.
pub(crate) type Former = (String, Time);

/// How long messages are signed with the former secret as well.
pub(crate) const OVERLAP: Millis = Millis(24 * 3_600_000);

/// The signatures of a message, for the header `webhook-signature`: with the secret, and for a while after it was
/// changed with the one before too, so that the other side can change it when it likes.
pub(crate) fn signatures((secret, former): (&str, Option<&Former>), id: &str, at: Time, body: &str) -> Result<String> {
    let former = former.filter(|(_, until)| at < *until).map(|(secret, _)| secret.as_str());
    let signed = |secret: &str| Ok(Secret::parse(secret)?.sign(id, at.0 / 1_000, body));
    let all = std::iter::once(secret).chain(former).map(signed).collect::<Result<Vec<_>>>()?;
    Ok(all.join(" "))
}

/// Whether a message is from somebody who knows the secret, and is not an old one sent again. `signatures` is the header
/// `webhook-signature`: several may stand there, of which one must be right. Compared in constant time.
pub fn verify(secret: &Secret, (id, seconds): (&str, u64), body: &str, signatures: &str, now: Time) -> Result<()> {
    let apart = Time(seconds.saturating_mul(1_000)).0.abs_diff(now.0);
    if apart > TOLERANCE.0 {
        let message = format!("the message was signed {} ago, at most {TOLERANCE} are accepted", Millis(apart));
        return Err(Error::denied("old_signature", message));
    }
    let key = hmac::Key::new(hmac::HMAC_SHA256, &secret.0);
    let text = signed(id, seconds, body);
    let mut given = signatures.split(' ').filter_map(|one| STANDARD.decode(one.strip_prefix(VERSION)?).ok());
    if given.any(|tag| hmac::verify(&key, text.as_bytes(), &tag).is_ok()) {
        return Ok(());
    }
    Err(Error::denied("bad_signature", "no signature of the message fits the secret: check the secret of the webhook"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example that the libraries of Standard Webhooks are tested with.
    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const SECONDS: u64 = 1_614_265_330;
    const BODY: &str = "{\"test\": 2432232314}";
    const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    #[test]
    fn a_signature_is_what_others_compute() {
        let secret = Secret::parse(SECRET).unwrap();
        assert_eq!(secret.sign(ID, SECONDS, BODY), SIGNATURE);
        assert_eq!(secret.text(), SECRET);
    }

    #[test]
    fn only_the_very_message_at_about_its_time_is_believed() {
        let secret = Secret::parse(SECRET).unwrap();
        let now = Time(SECONDS * 1_000);
        let check = |id: &str, seconds: u64, body: &str, signatures: &str, now: Time| {
            verify(&secret, (id, seconds), body, signatures, now).map_err(|error| error.code)
        };
        assert_eq!(check(ID, SECONDS, BODY, SIGNATURE, now), Ok(()));
        assert_eq!(check(ID, SECONDS, BODY, &format!("v1,AAAA v2,x {SIGNATURE}"), now), Ok(()), "keys may be changed");
        assert_eq!(check("msg_other", SECONDS, BODY, SIGNATURE, now), Err("bad_signature"));
        assert_eq!(check(ID, SECONDS + 1, BODY, SIGNATURE, now), Err("bad_signature"), "the time is signed too");
        assert_eq!(check(ID, SECONDS, "{}", SIGNATURE, now), Err("bad_signature"));
        assert_eq!(check(ID, SECONDS, BODY, "", now), Err("bad_signature"));
        let edge = Time(now.0 + TOLERANCE.0);
        assert_eq!(check(ID, SECONDS, BODY, SIGNATURE, edge), Ok(()));
        assert_eq!(check(ID, SECONDS, BODY, SIGNATURE, Time(edge.0 + 1)), Err("old_signature"), "a replay");
        assert_eq!(check(ID, SECONDS, BODY, SIGNATURE, Time(now.0 - TOLERANCE.0 - 1)), Err("old_signature"));
    }

    #[test]
    fn a_secret_is_made_of_chance_and_read_back() {
        let mut entropy = Entropy::from_seed([7; 32]);
        let (one, two) = (Secret::new(&mut entropy), Secret::new(&mut entropy));
        assert_ne!(one.text(), two.text());
        assert_eq!(Secret::parse(&one.text()).unwrap().text(), one.text());
        for bad in ["", "whsec_", "whsec_AAAA", "whsec_!", "AAAAAAAAAAAAAAAAAAAAAAAAAAAA"] {
            assert_eq!(Secret::parse(bad).err().map(|error| error.code), Some("bad_secret"), "{bad}");
        }
    }
}

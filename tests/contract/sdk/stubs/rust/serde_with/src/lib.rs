//! What Debian has not: members that may be absent, null or a value.

pub mod rust {
    pub mod double_option {
        use serde::{Deserialize, Deserializer, Serialize, Serializer};

        pub fn deserialize<'de, T, D>(from: D) -> Result<Option<Option<T>>, D::Error>
        where
            T: Deserialize<'de>,
            D: Deserializer<'de>,
        {
            Option::deserialize(from).map(Some)
        }

        pub fn serialize<T, S>(value: &Option<Option<T>>, to: S) -> Result<S::Ok, S::Error>
        where
            T: Serialize,
            S: Serializer,
        {
            value.as_ref().and_then(Option::as_ref).serialize(to)
        }
    }
}

//! All searches by name.

pub use arbornet_search::registry::{Detail, Found, Search, Source, Task};

macro_rules! specs {
    ($($(#[$doc:meta])* $file:ident::$name:ident,)*) => {
        /// A search by name, with its parameters.
        #[derive(Clone, Debug, PartialEq, serde::Deserialize)]
        #[serde(tag = "search", rename_all = "snake_case")]
        pub enum SearchSpec { $($(#[$doc])* $name($file::$name),)* }

        impl SearchSpec {
            /// Reads the JSON form.
            ///
            /// # Errors
            /// If it is not JSON, names no search, or has a parameter that the search has not.
            pub fn parse(json: &str) -> crate::error::Result<Self> {
                serde_json::from_str(json).map_err(|e| crate::error::Error::parameter("search", &json, e.to_string()))
            }

            /// The search.
            pub fn how(&self) -> &(dyn Search + Sync) {
                match self { $(Self::$name(how) => how,)* }
            }
        }
    };
}

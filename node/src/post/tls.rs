//! TLS to an address, checked against the machine's authorities or those of a file.

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::TlsConnector;

/// Where systems keep the certificates of authorities.
const SYSTEM: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// A connector that trusts the authorities of a file, or those of the system. It reads them each
/// time: requests are rare, and certificates change. `setting` names such a file.
pub(super) fn connector(authorities: Option<&Path>, setting: &str) -> Result<TlsConnector, String> {
    let of_system = || {
        SYSTEM
            .map(PathBuf::from)
            .into_iter()
            .find(|path| path.exists())
    };
    let path = authorities.map(Path::to_owned).or_else(of_system);
    let path =
        path.ok_or_else(|| format!("this machine has no list of authorities: set {setting}"))?;
    let shown = path.display();
    let listed = CertificateDer::pem_file_iter(&path).map_err(|e| format!("{shown}: {e}"))?;
    let mut roots = RootCertStore::empty();
    let (taken, _) = roots.add_parsable_certificates(listed.filter_map(Result::ok));
    if taken == 0 {
        return Err(format!("{shown} has no certificate of an authority"));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

//! Web sites that are monitored, each on an address of its own, which is this machine, and with a certificate of its own.

use std::{
    env, fs, io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    process,
    sync::Arc,
};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, SanType};
use rustls::{ServerConfig, crypto::aws_lc_rs, pki_types::PrivateKeyDer};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;

/// What each of them answers.
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

/// Why there are no sites.
#[derive(Debug, thiserror::Error)]
pub enum HostsError {
    /// This machine has no such addresses: on Linux it has all of 127.0.0.0/8.
    #[error("no site can listen")]
    Listen(#[from] io::Error),
    #[error("no certificate can be made")]
    Certificate(#[from] rcgen::Error),
    #[error("a site can't use its certificate")]
    Tls(#[from] rustls::Error),
}

/// Sites that answer as long as this is there.
pub struct Hosts {
    addresses: Vec<SocketAddr>,
    /// The certificate of who has signed theirs.
    authority: PathBuf,
    _serving: JoinSet<()>,
}

impl Hosts {
    /// Starts so many of them.
    ///
    /// # Errors
    /// When they can't be started on this machine.
    pub async fn start(count: usize) -> Result<Self, HostsError> {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let file = env::temp_dir().join(format!("linklet-authority-{}.pem", process::id()));
        fs::write(&file, authority.pem())?;
        let (mut addresses, mut serving) = (Vec::new(), JoinSet::new());
        for number in 0..count {
            let [.., third, fourth] = u32::try_from(number).unwrap_or_default().to_be_bytes();
            let address = Ipv4Addr::new(127, 9, third, fourth);
            let listener = TcpListener::bind((address, 0)).await?;
            addresses.push(listener.local_addr()?);
            serving.spawn(serve(listener, acceptor(address.into(), &authority)?));
        }
        Ok(Self { addresses, authority: file, _serving: serving })
    }

    /// A page of each of them.
    pub fn urls(&self) -> impl Iterator<Item = String> {
        self.addresses.iter().map(|address| format!("https://{address}/health"))
    }

    /// The file with the root certificate that a client has to trust.
    pub fn authority(&self) -> &Path {
        &self.authority
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        // What remains in the folder for temporary files does no harm.
        fs::remove_file(&self.authority).ok();
    }
}

fn acceptor(address: IpAddr, authority: &CertifiedIssuer<'_, KeyPair>) -> Result<TlsAcceptor, HostsError> {
    let mut params = CertificateParams::default();
    params.subject_alt_names = vec![SanType::IpAddress(address)];
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, authority)?;
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

async fn serve(listener: TcpListener, acceptor: TlsAcceptor) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(answer(stream, acceptor.clone()));
        while connections.try_join_next().is_some() {}
    }
}

/// Answers one request after another, until the client closes the connection.
async fn answer(stream: TcpStream, acceptor: TlsAcceptor) {
    // Otherwise parts of a handshake wait for what acknowledges others.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let Ok(mut stream) = acceptor.accept(stream).await else { return };
    let (mut request, mut buffer) = (Vec::new(), [0; 1_024]);
    while let Ok(read) = stream.read(&mut buffer).await
        && read > 0
    {
        request.extend_from_slice(&buffer[..read]);
        if request.ends_with(b"\r\n\r\n") {
            request.clear();
            if stream.write_all(ANSWER).await.is_err() {
                return;
            }
        }
    }
}

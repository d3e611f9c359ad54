use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// How a site answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// With this status.
    Answers(u16),
    /// With this status, after this time.
    AnswersAfter(Duration, u16),
    /// With nothing: it closes the connection.
    Closes,
    /// Never, until the client gives up.
    Hangs,
}

/// A web site on this machine that can be monitored. It measures how many requests it gets at once, and how many
/// several sites get together.
pub struct Site {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

struct State {
    manner: Manner,
    requests: HashMap<String, usize>,
    abandoned: usize,
    load: Load,
}

/// How many requests are being answered, and how many that have been at most.
#[derive(Debug, Clone, Copy, Default)]
struct Load {
    now: usize,
    most: usize,
}

impl Load {
    fn enter(&mut self) {
        self.now += 1;
        self.most = self.most.max(self.now);
    }

    fn leave(&mut self) {
        self.now -= 1;
    }
}

/// What several sites are measured by together.
#[derive(Debug, Clone, Default)]
pub struct OpenRequests(Arc<Mutex<Load>>);

impl OpenRequests {
    /// How many requests are being answered.
    pub fn now(&self) -> usize {
        lock(&self.0).now
    }

    /// The most requests that were being answered at once.
    pub fn most_at_once(&self) -> usize {
        lock(&self.0).most
    }
}

impl Site {
    /// A site that answers 200, on 127.0.0.1.
    pub fn start() -> Self {
        Self::start_on(Ipv4Addr::LOCALHOST, &OpenRequests::default())
    }

    /// A site that answers 200, on an address of its own in 127.0.0.0/8, all of which are this machine on Linux.
    ///
    /// # Panics
    /// When the machine has no such address.
    pub fn start_on(address: Ipv4Addr, open: &OpenRequests) -> Self {
        let listener = TcpListener::bind((IpAddr::from(address), 0)).expect("this machine has the address");
        let address = listener.local_addr().expect("a bound socket has an address");
        let state =
            State { manner: Manner::Answers(200), requests: HashMap::new(), abandoned: 0, load: Load::default() };
        let (state, open) = (Arc::new(Mutex::new(state)), open.clone());
        let shared = state.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (state, open) = (shared.clone(), open.clone());
                thread::spawn(move || serve(stream, &state, &open));
            }
        });
        Self { address, state }
    }

    /// The URL of a page.
    pub fn url(&self, page: &str) -> String {
        format!("http://{}{page}", self.address)
    }

    /// Answers in this manner from now on.
    pub fn behave(&self, manner: Manner) {
        lock(&self.state).manner = manner;
    }

    /// How often a page was asked for.
    pub fn requests(&self, page: &str) -> usize {
        lock(&self.state).requests.get(page).copied().unwrap_or_default()
    }

    /// How often any page was asked for.
    pub fn all_requests(&self) -> usize {
        lock(&self.state).requests.values().sum()
    }

    /// How many clients were gone when they should have been answered after some time.
    pub fn abandoned(&self) -> usize {
        lock(&self.state).abandoned
    }

    /// The most requests that it was answering at once.
    pub fn most_at_once(&self) -> usize {
        lock(&self.state).load.most
    }
}

fn lock<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    state.lock().expect("nobody panics while holding the lock")
}

fn serve(mut stream: TcpStream, state: &Mutex<State>, open: &OpenRequests) {
    let Some(page) = requested_page(&mut stream) else { return };
    let manner = {
        let mut state = lock(state);
        state.load.enter();
        *state.requests.entry(page).or_default() += 1;
        state.manner
    };
    lock(&open.0).enter();
    let reaction = wait(&mut stream, manner);
    // Before the answer, since the next request may come right behind it.
    lock(&open.0).leave();
    {
        let mut state = lock(state);
        state.load.leave();
        state.abandoned += usize::from(reaction == Reaction::Abandoned);
    }
    if let Reaction::Answer(status) = reaction {
        let answer = format!("HTTP/1.1 {status} Status\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok");
        // A client that has gone away doesn't hear it.
        let _ = stream.write_all(answer.as_bytes());
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reaction {
    Answer(u16),
    Nothing,
    /// There is nobody to answer any more.
    Abandoned,
}

/// Passes the time that the site takes, and says what it does then.
fn wait(stream: &mut TcpStream, manner: Manner) -> Reaction {
    match manner {
        Manner::Answers(status) => Reaction::Answer(status),
        Manner::AnswersAfter(time, status) if is_there_after(stream, time) => Reaction::Answer(status),
        Manner::AnswersAfter(..) => Reaction::Abandoned,
        Manner::Closes => Reaction::Nothing,
        Manner::Hangs => {
            let _ = stream.read_to_end(&mut Vec::new());
            Reaction::Nothing
        }
    }
}

/// Passes the time, or less if the client goes away.
fn is_there_after(stream: &mut TcpStream, time: Duration) -> bool {
    stream.set_read_timeout(Some(time)).expect("the time is longer than nothing");
    // A client that waits for its answer says nothing, so there is nothing to read unless it goes away.
    let read = stream.read(&mut [0]);
    read.is_err_and(|error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
}

fn requested_page(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut part = [0; 1_024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let length = stream.read(&mut part).ok().filter(|length| *length > 0)?;
        head.extend_from_slice(&part[..length]);
    }
    String::from_utf8_lossy(&head).split(' ').nth(1).map(str::to_owned)
}

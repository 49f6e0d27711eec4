//! The variables by which a probe is told about the stage.

/// A file that only the node may read.
pub(crate) const SECRET: &str = "PROBE_SECRET";
/// The folder it is in.
pub(crate) const HOME: &str = "PROBE_HOME";
/// A socket on which the node listens.
pub(crate) const SOCKET: &str = "PROBE_SOCKET";
/// One for datagrams.
pub(crate) const DATAGRAM: &str = "PROBE_DATAGRAM";
/// Name of an abstract one; with [`DATAGRAMS`] behind it, of one for datagrams.
pub(crate) const ABSTRACT: &str = "PROBE_ABSTRACT";
/// Behind the name of an abstract socket.
pub(crate) const DATAGRAMS: &str = "-datagrams";
/// Port on the host's loopback on which somebody listens.
pub(crate) const PORT: &str = "PROBE_PORT";
/// Process id of somebody who stands for the node.
pub(crate) const NODE: &str = "PROBE_NODE";
/// A word of that process's command line.
pub(crate) const MARK: &str = "PROBE_MARK";
/// Process id of another job.
pub(crate) const NEIGHBOUR: &str = "PROBE_NEIGHBOUR";
/// A file of that job.
pub(crate) const NEIGHBOURS_FILE: &str = "PROBE_NEIGHBOURS_FILE";
/// The host's name.
pub(crate) const HOST: &str = "PROBE_HOST";
/// A file of root's that only a group may read in which the node is besides its own, or
/// [`NO_FILE`].
pub(crate) const GROUP_FILE: &str = "PROBE_GROUP_FILE";
/// Where root did not begin and so could make none.
pub(crate) const NO_FILE: &str = "none";
/// There if the probe runs outside of a job, to show that it reaches what it tries.
pub(crate) const OUTSIDE: &str = "PROBE_OUTSIDE";

/// The variables of every probe.
pub(crate) const ALL: [&str; 12] = [
    SECRET,
    HOME,
    SOCKET,
    DATAGRAM,
    ABSTRACT,
    PORT,
    NODE,
    MARK,
    NEIGHBOUR,
    NEIGHBOURS_FILE,
    HOST,
    GROUP_FILE,
];
/// Those that are numbers.
pub(crate) const NUMBERS: [&str; 3] = [PORT, NODE, NEIGHBOUR];

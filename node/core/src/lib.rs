//! One gridbay node without its body: host, buyer and seller agents as one Input to Effect machine.

//! The tools that jobs are written with run inside the fence: the list of system calls is not too
//! short.

use gridbay_node::executor::{Exit, Stream, Tier};

use super::bench::{in_each_tier, is_there};

/// Runs a script as a job in each tier; `tiers` says in which it must work.
fn runs(name: &str, script: &str, works: impl Fn(Tier) -> bool) {
    in_each_tier(|bench| {
        if !works(bench.tier()) {
            return;
        }
        let mut spec = bench.shell(name, script);
        spec.limits.memory_bytes = 8 << 30;
        let end = bench.run(&spec);
        let said = bench.stdout(name);
        let complaint = bench.read(name, Stream::Stderr);
        assert_eq!(end.exit, Exit::Exited(0), "{said}\n{complaint}");
        assert_eq!(said.lines().last(), Some("well"), "{said}\n{complaint}");
    });
}

#[test]
fn shells_and_coreutils_run() {
    let script = "set -e
        mkdir -p a/b; echo text > a/b/c; cp -r a d; mv d/b/c d/e; ln -s e d/f; cat d/f | tr a-z A-Z | sort > g
        ls -laR . > /dev/null; find . -type f | xargs wc -c > /dev/null; du -s . > /dev/null; df . > /dev/null
        head -c 100000 /dev/zero | gzip | gzip -d | sha256sum > h; date > /dev/null; stat g > /dev/null
        tar cf x.tar a; mkdir y; tar xf x.tar -C y --no-same-owner; rm -r a d; touch new; sleep 0.01
        (sleep 0.1; echo late > late) & wait; kill -0 $$; ulimit -n > /dev/null; id -u > /dev/null
        test $(cat g) = TEXT; nproc > /dev/null; timeout 5 true; dd if=/dev/zero of=z bs=4k count=4 2>/dev/null
        echo well";
    runs("shell", script, |_| true);
}

#[test]
fn modes_can_be_changed_in_namespaces() {
    let script = "echo 'echo well' > p; chmod 755 p; ./p; touch -d @0 p; chmod 600 p";
    runs("modes", script, |tier| tier == Tier::Namespaces);
}

#[test]
fn git_and_copies_of_blocks_work() {
    let script = "set -e
        mkdir d; echo text > d/f; cp --reflink=auto d/f d/g; install -m 600 d/f d/h; cmp d/f d/g
        if test -t 1; then echo a terminal; fi; tty || true; df . > /dev/null; ls --color=auto d > /dev/null
        command -v git > /dev/null || { echo well; exit 0; }
        export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
        git init -q one; cd one; echo text > file; git add file; git commit -q -m first
        git log | cat > /dev/null; git gc -q; cd ..; git clone -q one two; cmp one/file two/file
        echo well";
    // Git changes modes by name.
    runs("git", script, |tier| tier == Tier::Namespaces);
}

/// Threads, pools of processes, sockets of its own, pipes, clocks.
const PYTHON: &str = r#"
import asyncio, ctypes, fcntl, mmap, multiprocessing, os, shutil, signal, socket, subprocess, sys, tempfile, termios
import threading, time
def square(n):
    return n * n
def main():
    threads = [threading.Thread(target=square, args=(i,)) for i in range(20)]
    [t.start() for t in threads]; [t.join() for t in threads]
    with multiprocessing.Pool(3) as pool:
        assert pool.map(square, range(10)) == [n * n for n in range(10)]
    assert subprocess.run(["echo", "a"], capture_output=True).stdout == b"a\n"
    async def tasks():
        await asyncio.gather(*(asyncio.sleep(0.001) for _ in range(50)))
        child = await asyncio.create_subprocess_exec("true")
        assert await child.wait() == 0
    asyncio.run(tasks())
    with tempfile.TemporaryFile() as file:
        file.write(b"x" * 8192); file.flush()
        mmap.mmap(file.fileno(), 8192)[0]
    # What programs order of descriptors, pipes and terminals.
    one, other = os.pipe()
    os.write(other, b"abc")
    asked = bytearray(4)
    fcntl.ioctl(one, termios.FIONREAD, asked)
    assert int.from_bytes(asked, sys.byteorder) == 3
    fcntl.ioctl(one, termios.FIONBIO, b"\x01\0\0\0"); fcntl.ioctl(one, termios.FIOASYNC, b"\0\0\0\0")
    fcntl.ioctl(one, termios.FIONCLEX); assert os.get_inheritable(one)
    fcntl.ioctl(one, termios.FIOCLEX); assert not os.get_inheritable(one)
    assert not sys.stdout.isatty() and shutil.get_terminal_size((7, 8)) == (7, 8)
    with tempfile.TemporaryFile() as file:
        # No room is set aside, so zeros are written.
        os.posix_fallocate(file.fileno(), 0, 8192); assert os.fstat(file.fileno()).st_size == 8192
    os.cpu_count(); os.sched_getaffinity(0); os.getrandom(8)
    signal.setitimer(signal.ITIMER_REAL, 0)
    if len(sys.argv) > 1:
        server = socket.create_server(("127.0.0.1", 0))
        client = socket.create_connection(server.getsockname())
        other, _ = server.accept()
        client.sendall(b"hello"); assert other.recv(5) == b"hello"
        path = tempfile.mktemp()
        server = socket.socket(socket.AF_UNIX); server.bind(path); server.listen()
        socket.socket(socket.AF_UNIX).connect(path)
        from multiprocessing import shared_memory
        shared = shared_memory.SharedMemory(create=True, size=4096)
        shared.buf[0] = 1; shared.close(); shared.unlink()
        socket.if_nameindex(); assert socket.if_nametoindex("lo") == 1
        left, right = socket.socketpair(); left.setblocking(False); right.sendall(b"x"); left.recv(1)
    print("well")
if __name__ == "__main__":
    main()
"#;

#[test]
fn python_runs_with_threads_processes_and_sockets() {
    if !is_there("python3") {
        return;
    }
    let script = format!("cat > p.py <<'END'\n{PYTHON}\nEND\npython3 p.py sockets");
    runs("python", &script, |tier| tier == Tier::Namespaces);
    // Pools need semaphores in /dev/shm, which only a view of its own has.
    let less = PYTHON.replace("with multiprocessing.Pool(3) as pool:", "if False:");
    let script = format!("cat > p.py <<'END'\n{less}\nEND\npython3 p.py");
    runs("python-plain", &script, |tier| tier == Tier::Plain);
}

/// Compiled by itself: a single file of source. Threads, files, sockets, a child, direct memory.
const JAVA: &str = r#"
import java.net.*; import java.nio.*; import java.nio.file.*; import java.util.concurrent.*; import java.util.stream.*;
public class P {
    public static void main(String[] words) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(8);
        Future<Integer> sum = pool.submit(() -> IntStream.range(0, 100000).parallel().sum());
        if (sum.get() != 704982704) throw new Error();
        pool.shutdown();
        Path file = Files.createTempFile(Path.of("."), "a", "b");
        Files.writeString(file, "text"); Files.delete(file);
        ByteBuffer.allocateDirect(1 << 20);
        if (new ProcessBuilder("true").start().waitFor() != 0) throw new Error();
        for (int i = 0; i < 20; i++) { byte[] much = new byte[8 << 20]; }
        System.gc();
        if (words.length > 0) {
            ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
            Socket other = server.accept();
            client.getOutputStream().write(7);
            if (other.getInputStream().read() != 7) throw new Error();
            if (other.getInputStream().available() != 0) throw new Error();
            java.nio.channels.Selector.open().close();
            for (NetworkInterface i : java.util.Collections.list(NetworkInterface.getNetworkInterfaces())) {
                i.getMTU(); i.isUp(); i.getHardwareAddress();
            }
        }
        System.out.println("well");
    }
}
"#;

#[test]
fn a_jvm_runs() {
    if !is_there("java") || !is_there("javac") {
        return;
    }
    let java = "java -Xmx128m -XX:MaxMetaspaceSize=128m -XX:ReservedCodeCacheSize=64m -XX:CompressedClassSpaceSize=64m P.java";
    let script = |words| format!("cat > P.java <<'END'\n{JAVA}\nEND\n{java} {words}");
    runs("java", &script("sockets"), |tier| tier == Tier::Namespaces);
    runs("java-plain", &script(""), |tier| tier == Tier::Plain);
}

#[test]
fn a_compiler_runs() {
    if !is_there("cc") {
        return;
    }
    let source = "#include <stdio.h>\\n#include <pthread.h>\\nvoid *f(void *a){return a;}\\nint main(){pthread_t t;\
                  pthread_create(&t,0,f,0);pthread_join(t,0);puts(\"well\");return 0;}";
    let script = format!("printf '{source}' > p.c && cc -O1 -pthread -o p p.c && ./p");
    // A linker marks its output as a program by name.
    runs("compiler", &script, |tier| tier == Tier::Namespaces);
}

/// Goroutines on several threads, a timer, a child, files, garbage, a socket of its own.
const GO: &str = r#"
package main

import ("fmt"; "net"; "os"; "os/exec"; "runtime"; "sync"; "time")

func main() {
	var group sync.WaitGroup
	sum := make([]int, 64)
	for i := range sum {
		group.Add(1)
		go func() { defer group.Done(); _ = make([]byte, 1<<20); sum[i] = i; runtime.Gosched() }()
	}
	group.Wait()
	runtime.GC()
	time.Sleep(time.Millisecond)
	if exec.Command("true").Run() != nil { panic("child") }
	if os.WriteFile("a", []byte("text"), 0o600) != nil || os.Remove("a") != nil { panic("file") }
	if len(os.Args) > 1 {
		server, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil { panic(err) }
		go func() { other, _ := server.Accept(); other.Write([]byte{7}) }()
		client, err := net.Dial("tcp", server.Addr().String())
		if err != nil { panic(err) }
		one := make([]byte, 1)
		if _, err := client.Read(one); err != nil || one[0] != 7 { panic("socket") }
	}
	fmt.Println("well")
}
"#;

#[test]
fn a_program_of_go_runs() {
    if !is_there("go") {
        return;
    }
    let script = |words| {
        format!(
            "cat > p.go <<'END'\n{GO}\nEND\nexport GOCACHE=$PWD/c GOFLAGS=-p=2; go run p.go {words}"
        )
    };
    // The linker's output is marked as a program by name.
    runs("go", &script("sockets"), |tier| tier == Tier::Namespaces);
}

#[test]
fn processes_of_mpi_find_one_another() {
    if !is_there("mpirun") || !is_there("mpicc") {
        return;
    }
    let source = "#include <mpi.h>\\n#include <stdio.h>\\nint main(int c,char**v){int me,all=1,sum=0;\
                  MPI_Init(&c,&v);MPI_Comm_rank(MPI_COMM_WORLD,&me);\
                  MPI_Allreduce(&all,&sum,1,MPI_INT,MPI_SUM,MPI_COMM_WORLD);\
                  if(me==0)puts(sum==2?\"well\":\"alone\");MPI_Finalize();return 0;}";
    let script =
        format!("printf '{source}' > p.c && mpicc -o p p.c && mpirun --oversubscribe -n 2 ./p");
    runs("mpi", &script, |tier| tier == Tier::Namespaces);
}

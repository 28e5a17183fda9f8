// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import XMPPTestSupport

/// The programs in places that are not as they should be: modes, owners, links, file systems, variables.
@Suite("The programs in odd surroundings", .serialized, .timeLimit(.minutes(5)))
struct SurroundingsTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
    }

    /// What a script of the shell did; `$0` is the tool.
    private func shell(
        _ script: String, _ change: (inout [String: String]) -> Void = { _ in }
    ) async throws -> FinishedProgram {
        var variables = folder.variables(["XDG_RUNTIME_DIR": folder.path + "/run"])
        change(&variables)
        return try await TestFolder.shell(script, ProcessTests.program, variables)
    }

    private let account = ".config/jabberctl/accounts/test.json"
    private let secret = #"{"jid": "juliet@example.org", "password": "geheim", "host": "127.0.0.1", "port": 1}"#

    @Test(
        "settings with a password that others may read are refused, and the error says what to run",
        arguments: [0o644, 0o640, 0o604, 0o666, 0o660, 0o620, 0o777])
    func modes(_ mode: Int) async throws {
        try folder.write(secret, to: account, mode: mode)
        for command in ["ping", "account list"] {
            let run = try await shell(#""$0" --no-daemon "# + command)
            #expect(run.code == 78, "\(run)")
            #expect(run.errors.contains("chmod"), "\(run.errors)")
            #expect(!(run.output + run.errors).contains("geheim"))
        }
    }

    @Test("nor is a link to such settings followed, nor another user's believed", .enabled(if: geteuid() == 0))
    func linksAndOwners() async throws {
        try folder.write(secret, to: "elsewhere.json")
        try folder.write(secret, to: account)
        try FileManager.default.removeItem(atPath: folder.path + "/" + account)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/" + account, withDestinationPath: folder.path + "/elsewhere.json")
        #expect(try await shell(#""$0" --no-daemon ping"#).code == 78)
        try FileManager.default.removeItem(atPath: folder.path + "/" + account)
        try folder.write(secret, to: account)
        let run = try await shell(
            #"chown 65534 "$HOME/.config/jabberctl/accounts/test.json" && exec "$0" --no-daemon ping"#)
        #expect(run.code == 78 && run.errors.contains("chown"), "\(run)")
    }

    @Test("what the programs make is the user's alone, whatever the umask", arguments: ["000", "022", "077", "777"])
    func umask(_ mask: String) async throws {
        try folder.write("geheim\n", to: "secret")
        let script = """
            mkdir -p -m 700 "$HOME/run"
            umask \(mask)
            "$0" account add juliet@example.org --host 127.0.0.1 --port 1 --password-fd 5 5<"$HOME/secret" || exit
            "$0" daemon start || exit
            stat -c '%a %n' "$HOME/run/jabberctl/control.sock"
            "$0" daemon stop || exit
            """
        let run = try await shell(script)
        #expect(run.code == 0, "\(run)")
        let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        #expect(names.contains(".config/jabberctl/accounts/juliet@example.org.json"))
        for name in names {
            #expect(folder.mode(name) & 0o677 == 0o600, "\(String(folder.mode(name), radix: 8)) \(name)")
        }
        let socket =
            run.output.split(separator: "\n").first { $0.dropFirst(3).first == " " && $0.hasSuffix("control.sock") }
            ?? ""
        #expect(socket.split(separator: " ").first.flatMap { Int($0, radix: 8) }.map { $0 & 0o077 } == 0, "\(socket)")
    }

    @Test("of many starts at once one starts the daemon, the others say that it runs, and stop waits for that one")
    func starts() async throws {
        let script = """
            for round in 1 2; do
                for i in $(seq 12); do ("$0" daemon start --json || echo "code $?") >"$HOME/start.$i" 2>&1 & done; wait
                cat "$HOME"/start.* | grep -c '"started":true'
                cat "$HOME"/start.* | grep -vc '"started":\\(true\\|false\\)}$'
                "$0" daemon stop -q & "$0" daemon start -q & wait $!
                wait; "$0" daemon stop -q 2>/dev/null
            done; true
            """
        let run = try await shell(script)
        #expect(run.output == "1\n0\n1\n0\n", "\(run)")
    }

    @Test("a daemon that finds another one in its place was not started")
    func otherDaemon() async throws {
        let fake = """
            #!/bin/sh
            setsid perl -MIO::Socket::UNIX -e '
                $SIG{PIPE} = q(IGNORE);
                my $l = IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 9) or die; open F, ">", "$ARGV[0].on";
                while (my $s = $l->accept) { print $s q({"jsonrpc":"2.0","method":"hello","params":{}}), "\\n"; close $s }
                ' "$HOME/control.sock" & echo $! >"$HOME/other"
            while ! [ -e "$HOME/control.sock.on" ]; do sleep 0.05; done
            sleep 0.3; exit 75
            """
        try folder.write(fake, to: "fake", mode: 0o755)
        let run = try await shell(
            #""$0" daemon start --json --socket "$HOME/control.sock" -g started; echo $?; kill $(cat "$HOME/other")"#
        ) { $0["JABBERCTLD"] = folder.path + "/fake" }
        #expect(run.output == "false\n0\n", "\(run)")
    }

    @Test(
        "a daemon that ends with a code of the table passes it on; what is none is an error of input and output",
        arguments: [("42", "74"), ("127", "74"), ("78", "78"), ("77", "77")])
    func strangeEnd(_ code: String, _ exit: String) async throws {
        try folder.write("#!/bin/sh\necho 'jabberctld: no such luck' >&2; exit \(code)\n", to: "fake", mode: 0o755)
        let run = try await shell(#""$0" daemon start; echo $?"#) { $0["JABBERCTLD"] = folder.path + "/fake" }
        #expect(run.output == "\(exit)\n" && run.errors == "jabberctl: no such luck\n", "\(run)")
    }

    @Test("a daemon that was stopped keeps no command beyond its time, and the error says what to do")
    func stoppedDaemon() async throws {
        let script = """
            "$0" daemon start -q || exit
            pid=$("$0" daemon info -g pid); kill -STOP $pid
            SECONDS=0
            for command in status "daemon info" "daemon stop" listen online; do
                "$0" --timeout 0.5 --no-ask $command; echo $?
            done
            [ $SECONDS -lt 8 ] && echo quick
            kill -CONT $pid; "$0" daemon stop -q
            """
        let run = try await shell(script)
        #expect(run.output == "5\n5\n5\n5\n5\nquick\n", "\(run)")
        #expect(run.errors.contains("or was stopped; end it with: kill -KILL "), "\(run.errors)")
    }

    @Test("with room for too few open files the programs say so and do not fall over")
    func fewFiles() async throws {
        let script = """
            (ulimit -n 8; "$0" daemon start; echo $?; "$0" --no-daemon ping; echo $?; "$0" -q version; echo $?)
            (ulimit -Sn 8; "$0" daemon start -q; echo $?; "$0" status -q; echo $?; "$0" daemon stop -q; echo $?)
            """
        let run = try await shell(script)
        #expect(run.output == "74\n74\n0\n0\n1\n0\n", "\(run)")
        #expect(run.errors.contains("only 8 files may be open"))
    }

    @Test("a folder that others may look into holds no control socket")
    func openFolder() async throws {
        let run = try await shell(
            #"mkdir -p "$HOME/run/jabberctl"; chmod 755 "$HOME/run/jabberctl"; exec "$0" daemon start"#)
        #expect(run.code != 0 && run.code < 128, "\(run)")
        #expect(run.errors.contains("chmod 700"), "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/run/jabberctl/control.sock"))
    }

    @Test("a daemon of another user is asked for nothing, and told nothing", .enabled(if: geteuid() == 0))
    func foreignDaemon() async throws {
        let script = """
            mkdir -p "$HOME/run/jabberctl"; chmod 755 "$HOME"; chown -R 65534 "$HOME/run"
            exec 3< <(exec setpriv --reuid=65534 --regid=65534 --clear-groups perl -MIO::Socket::UNIX -e '
                $| = 1;
                $SIG{PIPE} = q(IGNORE);
                my $l = IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 1) or die;
                print "listens\n";
                my $s = $l->accept;
                print $s q({"jsonrpc":"2.0","method":"hello","params":{"product":"x","version":"1","api":{"min":1,"max":1},"instance":"i"}}), "\\n";
                $s->flush; print "told: ", (<$s> // ""), "\n"' "$HOME/run/jabberctl/control.sock")
            read -r line <&3
            timeout 20 "$0" --no-ask --timeout 5 daemon info; echo "code $?"
            read -r line <&3; echo "$line"
            """
        let run = try await shell(script)
        #expect(run.output == "code 3\ntold:\n", "\(run)")
    }

    @Test(
        "a password keeps every sign on its way through file and login",
        arguments: [
            #"two  words # "x" \ é"#, " leading and trailing ", #"'; touch "$HOME/pwned"; '"#, "$(id)`id`", "%s%n%x",
            "пароль 密码 ñ", "=,==,n=a,r=b", "<&>\"']]>", String(repeating: "x", count: 1_000),
        ])
    func passwords(_ password: String) async throws {
        let server = try await LoopbackServer.start(domain: "example.org", accounts: ["juliet": password])
        try folder.write(password + "\n", to: "secret")
        let script = """
            "$0" account add juliet@example.org --host \(server.host) --port \(server.port) \
                --ca '\(server.certificateAuthorityFile)' --password-fd 5 5<"$HOME/secret" >/dev/null || exit
            exec "$0" --no-daemon --no-ask ping
            """
        let run = try await shell(script)
        #expect(run.code == 0, "\(run)")
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/pwned"))
        await server.stop()
    }

    @Test(
        "bytes that are no password are refused, and nothing falls over",
        arguments: [
            [0xFF], [0xC3], [0xED, 0xA0, 0x80], [0x61, 0x00, 0x62], [0x0A], [0x0D, 0x0A], [], [0xF4, 0x90, 0x80, 0x80],
            [0x07], [0x7F],
        ] as [[UInt8]])
    func noPasswords(_ bytes: [UInt8]) async throws {
        try Data(bytes).write(to: URL(filePath: folder.path + "/secret"))
        let server = try await LoopbackServer.start(domain: "example.org", accounts: ["juliet": "secret"])
        let script = """
            exec "$0" --no-daemon --no-ask --jid juliet@example.org --host \(server.host) --port \(server.port) \
                --ca '\(server.certificateAuthorityFile)' --password-fd 5 ping 5<"$HOME/secret"
            """
        let run = try await shell(script)
        #expect([77, 78, 65].contains(run.code), "\(run)")
        await server.stop()
    }

    @Test(
        "without a home, or with one that is none, a command says what is wrong",
        arguments: [
            "unset HOME XDG_RUNTIME_DIR", "HOME=relative/path", "HOME=/dev/null", "HOME=", "HOME=/proc/self/fd",
            "XDG_CONFIG_HOME=/dev/null/x XDG_STATE_HOME=\u{FF}", "cd /proc/self/fd; exec 0<&-",
        ])
    func home(_ preparation: String) async throws {
        for command in ["account list", "online --no-daemon", "daemon info", "version"] {
            let run = try await shell(
                "\(preparation.hasPrefix("unset") || preparation.hasPrefix("cd") ? preparation : "export " + preparation); exec \"$0\" --no-ask \(command)"
            )
            #expect(run.code < 126, "\(command): \(run)")
            #expect(run.code == 0 || run.errors.hasPrefix("jabberctl: "), "\(command): \(run)")
        }
    }

    @Test("locale, time zone and terminal change no byte of what a pipe gets")
    func locales() async throws {
        let command = #"exec "$0" account list --json"#
        try folder.write(#"{"jid": "i\u0307@example.org", "priority": 1}"#, to: account)
        let expected = try await shell(command)
        #expect(expected.code == 0, "\(expected)")
        for (name, value) in [
            ("LC_ALL", "tr_TR.UTF-8"), ("LC_ALL", "C"), ("LC_ALL", "de_DE.ISO-8859-1"), ("LANG", "\u{1B}[2J"),
            ("TZ", ":/etc/passwd"), ("TZ", "\u{FFFF}"), ("TERM", "\u{1B}]0;x\u{7}"), ("COLUMNS", "-1"),
            ("COLUMNS", "99999999999999999999"), ("NO_COLOR", ""), ("LANGUAGE", String(repeating: "x", count: 70_000)),
        ] {
            let run = try await shell(command) { $0[name] = value }
            #expect(run.code == 0 && run.output == expected.output, "\(name)=\(value.prefix(40)): \(run)")
        }
    }

    @Test(
        "on a file system without room nothing is half written, and the old settings stay",
        .enabled(if: SmallDisk.isPossible, "takes root that may mount"))
    func fullDisk() async throws {
        try folder.write("geheim\n", to: "secret")
        let script = """
            "$0" account add one@example.org --no-password || exit 98
            dd if=/dev/zero of="$XDG_CONFIG_HOME/filler" bs=1k 2>/dev/null
            "$0" account add two@example.org --password-fd 5 5<"$HOME/secret"; echo "add $?"
            "$0" account default one@example.org; echo "default $?"
            "$0" account list -g name; echo "list $?"
            find "$XDG_CONFIG_HOME" -name "*.new" | wc -l
            rm "$XDG_CONFIG_HOME/filler"
            "$0" account add two@example.org --no-password >/dev/null; echo "again $?"
            """
        let disk = try SmallDisk(kilobytes: 16)
        let run = try await shell(script) { $0["XDG_CONFIG_HOME"] = disk.path }
        #expect(run.output.contains("add 74") && run.output.contains("one@example.org\nlist 0\n0\nagain 0"), "\(run)")
        #expect(!run.output.contains("default 128") && run.errors.contains("No space left"), "\(run)")
    }

    @Test(
        "a daemon that cannot be started on a full disk says so",
        .enabled(if: SmallDisk.isPossible, "takes root that may mount"))
    func fullStart() async throws {
        let script = """
            mkdir -m 700 "$XDG_STATE_HOME/jabberctl"
            dd if=/dev/zero of="$XDG_STATE_HOME/filler" bs=1k 2>/dev/null
            "$0" daemon start; echo "start $?"
            """
        let disk = try SmallDisk(kilobytes: 16)
        let run = try await shell(script) { ($0["XDG_STATE_HOME"], $0["XDG_RUNTIME_DIR"]) = (disk.path, disk.path) }
        #expect(run.output == "start 74\n" && run.errors.contains("No space left"), "\(run)")
    }

    @Test(
        "a server that IPv6 alone leads to is reached",
        .enabled(if: FileManager.default.fileExists(atPath: "/proc/net/if_inet6")))
    func onlyIPv6() async throws {
        let server = try await LoopbackServer.start(domain: "example.org", accounts: ["juliet": "secret"])
        try folder.write("secret\n", to: "secret")
        // A relay from ::1, where nothing listens on 127.0.0.1.
        let script = """
            exec 3< <(exec perl -MIO::Socket::IP -MIO::Select -e '
                $| = 1;
                my $l = IO::Socket::IP->new(LocalHost => "::1", LocalPort => 0, Listen => 1) or exit 99;
                print $l->sockport, "\\n";
                my $a = $l->accept; my $b = IO::Socket::IP->new(PeerHost => "127.0.0.1", PeerPort => $ARGV[0]);
                my $s = IO::Select->new($a, $b);
                while (my @r = $s->can_read) { for (@r) { sysread($_, my $x, 65536) or exit 0;
                    syswrite($_ == $a ? $b : $a, $x); } }' \(server.port))
            read -r port <&3 || exit 99
            exec "$0" --no-daemon --no-ask --jid juliet@example.org --host ::1 --port "$port" \
                --ca '\(server.certificateAuthorityFile)' --password-fd 5 ping 5<"$HOME/secret"
            """
        let run = try await shell(script)
        #expect(run.code == 0 || run.code == 99, "\(run)")
        await server.stop()
    }
}

import { spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryDirectory, writeFiles } from './repository.ts';

/** Why there is no attacker to test with; false where there is one. */
export const noAttacker =
  spawnSync('python3', ['--version']).status === 0
    ? process.platform !== 'linux' && 'the tricks are those of Linux'
    : 'python3 is not installed';

/** The tricks by which a process of a run hides who it is: each makes one call to the API, and prints what it was answered. */
export const TRICKS = [
  'plain',
  'cleared',
  'in_flight',
  'own_table',
  'leader_gone',
  'not_dumpable',
  'orphan',
  'hidden_orphan',
  'lowered_orphan',
  'mapped',
] as const;
export type Trick = (typeof TRICKS)[number] | 'run_away' | 'hang_up';

/** Writes the attacker where everybody may read it, and answers its path. */
export const attacker = (t: TestContext): string => {
  const root = temporaryDirectory(t);
  writeFiles(root, { 'attacker.py': SCRIPT });
  chmodSync(root, 0o755);
  return join(root, 'attacker.py');
};

const SCRIPT = String.raw`
import array, ctypes, os, resource, socket, sys, threading, time

trick, host, port, method, path, out = sys.argv[1:7]
libc = ctypes.CDLL(None, use_errno=True)
EXIT = {'x86_64': 60, 'aarch64': 93}[os.uname().machine]

def say(answer):
    words = answer.split()
    code = 'not_operator' if 'not_operator' in answer else ''
    with open(out, 'a') as told:
        told.write('%s %s %s\n' % (trick, words[1] if len(words) > 1 else 'none', code))

def opened(family=socket.AF_INET):
    client = socket.socket(family)
    client.connect(('::ffff:' + host if family == socket.AF_INET6 else host, int(port)))
    return client

def ask(client):
    text = '%s %s HTTP/1.1\r\nhost: %s:%s\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'
    client.sendall((text % (method, path, host, port)).encode())

def answer(client):
    parts = []
    while True:
        part = client.recv(65536)
        if not part:
            return b''.join(parts).decode('latin1')
        parts.append(part)

def call(family=socket.AF_INET):
    client = opened(family)
    ask(client)
    say(answer(client))

def orphaned(then):
    if os.fork() > 0:
        # The last of it has to be heard of before the program that began it ends.
        while not os.path.exists(out) or trick + ' ' not in open(out).read():
            time.sleep(0.02)
        os._exit(0)
    os.setsid()
    if os.fork() > 0:
        os._exit(0)
    while os.getppid() == 0 or os.path.exists('/proc/%d/task' % os.getppid()) and parent_is_ours():
        time.sleep(0.01)
    os.chdir('/')
    then()

def parent_is_ours():
    try:
        return b'attacker.py' in open('/proc/%d/cmdline' % os.getppid(), 'rb').read()
    except OSError:
        return False

def again(name):
    os.execve(sys.executable, [sys.executable, __file__, name, host, port, method, path, out + '.x'], {})

def in_flight():
    client = opened()
    here, there = socket.socketpair()
    ask(client)
    here.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [client.fileno()]))])
    client.close()
    time.sleep(1)
    _, data, _, _ = there.recvmsg(1, socket.CMSG_SPACE(4))
    number = array.array('i', data[0][2])[0]
    say(answer(socket.socket(fileno=number)))

def own_table():
    def work():
        libc.unshare(0x400)
        call()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

def leader_gone():
    def work():
        time.sleep(0.5)
        call()
        os._exit(0)
    threading.Thread(target=work).start()
    libc.syscall(EXIT, 0)

def not_dumpable():
    libc.prctl(4, 0, 0, 0, 0)
    call()

def lower():
    resource.setrlimit(10, (5, 5))
    call()

def cleared_orphan(hidden):
    def then():
        pid = os.fork()
        if pid == 0:
            code = "import ctypes, runpy, sys; sys.argv = sys.argv[1:]; ctypes.CDLL(None).prctl(4, %d, 0, 0, 0); runpy.run_path(sys.argv[0])" % (0 if hidden else 1)
            os.execve(sys.executable, [sys.executable, '-c', code, __file__, 'plain', host, port, method, path, out + '.x'], {})
        os.waitpid(pid, 0)
        line = open(out + '.x').read().split(' ', 1)[1]
        with open(out, 'a') as told:
            told.write(trick + ' ' + line)
        os.unlink(out + '.x')
    orphaned(then)

def run_away():
    if os.fork() > 0:
        os._exit(0)
    os.setsid()
    if os.fork() > 0:
        os._exit(0)
    os.chdir('/')
    for name in ('HOME', 'DOSSIER_RUN'):
        os.environ.pop(name, None)
    if not os.environ.get('AGAIN'):
        libc.prctl(4, 0, 0, 0, 0)
    null = os.open('/dev/null', os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    with open(out, 'a') as told:
        told.write('up %d\n' % os.getpid())
    while True:
        time.sleep(0.2)
        try:
            call()
        except OSError:
            pass

def hang_up():
    client = opened()
    ask(client)
    client.close()
    say('- 0')

{
    'plain': call,
    'cleared': lambda: os.system("env -i %s %s plain %s %s %s %s %s.c; sed s/plain/cleared/ %s.c >> %s" % (sys.executable, __file__, host, port, method, path, out, out, out)),
    'in_flight': in_flight,
    'own_table': own_table,
    'leader_gone': leader_gone,
    'not_dumpable': not_dumpable,
    'orphan': lambda: cleared_orphan(False),
    'hidden_orphan': lambda: cleared_orphan(True),
    'lowered_orphan': lambda: orphaned(lower),
    'mapped': lambda: call(socket.AF_INET6),
    'run_away': run_away,
    'hang_up': hang_up,
}[trick]()
`;

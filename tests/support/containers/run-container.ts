// Runs a command in the files of an image as `docker run --read-only --cap-drop ALL --tmpfs /tmp -v …:/data` does: in mount and
// process namespaces of its own, as the image's user, as process 1.

import { until } from '../until.ts'
import type { Image } from './build-image.ts'

interface ContainerOptions {
  dataDir: string
  environment?: Record<string, string>
}

const SCRIPT = `
  set -e
  root=$1 data=$2 dir=$3 user=$4
  shift 4
  mount --make-rprivate /
  mount --bind "$root" "$root"
  mount --bind /dev "$root/dev"
  mount -t proc proc "$root/proc"
  mount -t tmpfs tmpfs "$root/tmp"
  mount --bind "$data" "$root/data"
  mount -o remount,bind,ro "$root"
  exec chroot "$root" setpriv --reuid "$user" --regid "$user" --clear-groups \\
    --no-new-privs --bounding-set=-all --inh-caps=-all env --ignore-environment --chdir "$dir" "$@"`

export function startContainer(
  image: Image,
  command: string[],
  { dataDir, environment = {} }: ContainerOptions,
) {
  const { User, WorkingDir, Env } = image.config
  const settings = [...Env, ...Object.entries(environment).map(([name, value]) => `${name}=${value}`)]
  const child = Bun.spawn(
    [
      'unshare',
      '--mount',
      '--pid',
      '--fork',
      '--kill-child',
      'sh',
      '-c',
      SCRIPT,
      'sh',
      image.root,
      dataDir,
      WorkingDir,
      User,
      ...settings,
      ...command,
    ],
    { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
  )
  const stdout = new Response(child.stdout).text()
  const stderr = new Response(child.stderr).text()
  return {
    /** Waits until it ends. */
    async wait() {
      const [out, errors] = [await stdout, await stderr]
      return { exitCode: await child.exited, stdout: out, stderr: errors }
    },
    /** Sends SIGTERM to process 1 of the container, as `docker stop` does. */
    async stop() {
      const pid = await until(
        'process 1',
        async () => child.exitCode !== null || (await findChild(child.pid)),
      )
      if (typeof pid === 'number') process.kill(pid, 'SIGTERM')
      return this.wait()
    },
    /** Whether it still runs. */
    isRunning: () => child.exitCode === null,
  }
}

export const runInContainer = (image: Image, command: string[], options: ContainerOptions) =>
  startContainer(image, command, options).wait()

async function findChild(pid: number): Promise<number | undefined> {
  const children = Bun.file(`/proc/${pid}/task/${pid}/children`)
  return Number((await children.text().catch(() => '')).split(' ')[0]) || undefined
}

// Builds the Dockerfile without a container engine and without a hub: buildah needs no daemon, and the images of its FROM
// lines are Debian's packages with this machine's Node.js.

import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ROOT } from '../architecture/read-checkout.ts'
import { canInstallPackages, installPackage } from '../processes/debian-package.ts'

export interface ImageConfig {
  User: string
  Env: string[]
  Cmd: string[]
  WorkingDir: string
  Volumes: Record<string, unknown>
  Healthcheck: { Test: string[] }
}

export interface Image {
  /** The directory of its files. */
  root: string
  bytes: number
  config: ImageConfig
  remove(): void
}

/** These tests change root and mount: only root may, and only Debian has the packages. */
export const canBuildImages = canInstallPackages

/** @throws when a step of the Dockerfile fails */
export function buildImage(): Image {
  for (const name of ['buildah', 'debootstrap']) {
    if (!Bun.which(name)) installPackage(name, `install ${name}.`)
  }
  const dir = mkdtempSync(join(tmpdir(), 'towpath-image-'))
  const remove = () => rmSync(dir, { recursive: true, force: true })
  try {
    const buildah = createBuildah(dir)
    createBaseImages(dir, buildah)
    buildah('build', '--format', 'docker', '--pull-never', '--tag', 'towpath', ROOT)
    const container = buildah('from', '--pull-never', 'localhost/towpath')
    const root = buildah('mount', container)
    const { Docker } = JSON.parse(buildah('inspect', container))
    return { root, bytes: sumBytes(root), config: Docker.config, remove }
  } catch (error) {
    remove()
    throw error
  }
}

type Buildah = (...words: string[]) => string

function createBuildah(dir: string): Buildah {
  writeFileSync(
    join(dir, 'storage.conf'),
    `[storage]\ndriver = "vfs"\nrunroot = "${dir}/run"\ngraphroot = "${dir}/graph"\n`,
  )
  const env = { CONTAINERS_STORAGE_CONF: join(dir, 'storage.conf'), BUILDAH_ISOLATION: 'chroot' }
  return (...words) => run(['buildah', ...words], env)
}

function createBaseImages(dir: string, buildah: Buildah): void {
  const debian = join(dir, 'debian')
  run(['debootstrap', '--variant=minbase', 'bookworm', debian, 'http://deb.debian.org/debian'])
  // The image of the hub has none of these either.
  for (const path of ['var/cache/apt/archives', 'var/lib/apt/lists', 'usr/share/doc', 'usr/share/locale'])
    rmSync(join(debian, path), { recursive: true, force: true })
  importImage(buildah, 'scratch', debian, 'docker.io/library/debian:bookworm-slim')
  const node = join(dir, 'node')
  writeNodeFiles(node)
  importImage(
    buildah,
    'docker.io/library/debian:bookworm-slim',
    node,
    'docker.io/library/node:22-bookworm-slim',
  )
}

function importImage(buildah: Buildah, from: string, files: string, name: string): void {
  const container = buildah('from', '--pull-never', from)
  buildah('add', '--quiet', container, files, '/')
  buildah('commit', '--quiet', container, name)
  buildah('rm', container)
}

/** Node.js and npm with this machine's settings, and the authorities that it trusts. */
function writeNodeFiles(target: string): void {
  const npm = run(['sh', '-c', 'dirname "$(dirname "$(readlink -f "$(command -v npm)")")"'])
  const copies = [
    [Bun.which('node') as string, '/usr/bin/node'],
    [npm, '/usr/lib/node_modules/npm'],
    ['/etc/ssl/certs/ca-certificates.crt', '/etc/ssl/certs/ca-certificates.crt'],
    [run(['npm', 'config', 'get', 'globalconfig']), '/usr/etc/npmrc'],
  ] as const
  for (const [from, to] of copies) {
    mkdirSync(dirname(target + to), { recursive: true })
    cpSync(from, target + to, { recursive: true, dereference: true, force: true })
  }
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(target, 'usr/bin/npm'))
}

/** Files with several names count once, as in a layer. */
const sumBytes = (root: string) => Number(run(['du', '--summarize', '--bytes', root]).split('\t')[0])

function run(command: string[], env: Record<string, string> = {}): string {
  const child = Bun.spawnSync(command, { env: { ...process.env, ...env }, stdout: 'pipe', stderr: 'pipe' })
  if (child.success) return child.stdout.toString().trim()
  throw new Error(`${command.join(' ')} failed:\n${child.stdout}${child.stderr}`.slice(-4_000))
}

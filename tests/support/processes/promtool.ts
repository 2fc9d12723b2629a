// Finds promtool, which says whether Prometheus can read metrics and alert rules. Only the one program is unpacked from the
// Debian package: a server that runs is not needed.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { canInstallPackages } from './debian-package.ts'

const PACKAGE = 'prometheus'
/** Kept for the next run: the package has 20 MB. */
const KEPT = join(tmpdir(), 'towpath-promtool')

/** @returns undefined where there is none, and no package can be had */
export function findPromtool(): string | undefined {
  const installed = Bun.which('promtool') ?? Bun.which('promtool', { PATH: KEPT })
  if (installed !== null) return installed
  if (!canInstallPackages() || Bun.which('dpkg-deb') === null) return undefined
  const directory = mkdtempSync(join(tmpdir(), 'towpath-prometheus-'))
  const run = (command: string[]) =>
    Bun.spawnSync(command, { cwd: directory, stdout: 'ignore', stderr: 'ignore' }).success
  try {
    const download = ['apt-get', '-q', 'download', PACKAGE]
    if (!run(download) && !(run(['apt-get', '-q', 'update']) && run(download))) return undefined
    const archive = readdirSync(directory).find((name) => name.endsWith('.deb'))
    if (archive === undefined || !run(['dpkg-deb', '--extract', archive, 'files'])) return undefined
    run(['mkdir', '-p', KEPT])
    // A rename, because several test files may do this at once.
    run(['cp', 'files/usr/bin/promtool', `${KEPT}/promtool.${process.pid}`])
    run(['mv', `${KEPT}/promtool.${process.pid}`, `${KEPT}/promtool`])
    return Bun.which('promtool', { PATH: KEPT }) ?? undefined
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** @returns its messages about the input; '' if it is correct */
export function runPromtool(promtool: string, args: string[], input = ''): string {
  const { stdout, stderr, exitCode } = Bun.spawnSync([promtool, ...args], {
    stdin: Buffer.from(input),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  return exitCode === 0 && stderr.length === 0 ? '' : `${exitCode}: ${stdout}${stderr}`
}

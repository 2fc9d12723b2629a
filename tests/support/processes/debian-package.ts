// Installs the Debian packages of programs that tests need, when the tests run as root on Debian.

/** True as root on a system with apt-get. */
export const canInstallPackages = () => process.getuid?.() === 0 && Bun.which('apt-get') !== null

/** @param alternative what the user can do when the installation fails. @throws when the installation fails */
export function installPackage(name: string, alternative: string): void {
  process.stderr.write(`${name} is missing: installing the Debian package for the tests\n`)
  const options = ['-q', '-o', 'DPkg::Lock::Timeout=300']
  apt(['apt-get', ...options, 'update'], name, alternative)
  apt(['apt-get', ...options, 'install', '-y', '--no-install-recommends', name], name, alternative)
}

function apt(command: string[], name: string, alternative: string) {
  const run = Bun.spawnSync(command, {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  if (run.success) return
  throw new Error(`${name} could not be installed (${command.join(' ')}): ${alternative}\n${run.stderr}`)
}

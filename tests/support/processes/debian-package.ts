// Debian's packages of the programs that tests need, where we may install them.

/** Whether a program that is missing could be installed. */
export const canInstallPackages = () => process.getuid?.() === 0 && Bun.which('apt-get') !== null

/** @param instead what else can be done about it. @throws why it could not be installed */
export function installPackage(name: string, instead: string): void {
  process.stderr.write(`${name} is missing: installing the Debian package for the tests\n`)
  const patient = ['-q', '-o', 'DPkg::Lock::Timeout=300']
  apt(['apt-get', ...patient, 'update'], name, instead)
  apt(['apt-get', ...patient, 'install', '-y', '--no-install-recommends', name], name, instead)
}

function apt(command: string[], name: string, instead: string) {
  const run = Bun.spawnSync(command, {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  if (run.success) return
  throw new Error(`${name} could not be installed (${command.join(' ')}): ${instead}\n${run.stderr}`)
}

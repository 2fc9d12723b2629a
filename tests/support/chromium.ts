// Where Chromium is on this machine; Debian's package is installed where that is possible.

import { type Browser, chromium } from 'playwright-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** An installation takes longer than a test may. */
export const CHROMIUM_MS = 600_000

/** @throws what is to be done where there is none */
export async function launchChromium(): Promise<Browser> {
  const executablePath = findChromium() ?? installChromium()
  return chromium.launch({
    executablePath,
    // Sites and servers with names of their own, all on this machine.
    args: ['--host-resolver-rules=MAP *.test 127.0.0.1'],
    // Playwright turns off what some tests are about.
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  })
}

function findChromium(): string | undefined {
  const given = process.env.CHROMIUM
  return given ?? NAMES.map((name) => Bun.which(name)).find((path) => path !== null) ?? undefined
}

function installChromium(): string {
  if (process.getuid?.() === 0 && Bun.which('apt-get')) {
    process.stderr.write('Chromium is missing: installing the Debian package for the tests\n')
    const patient = ['-q', '-o', 'DPkg::Lock::Timeout=300']
    apt('apt-get', ...patient, 'update')
    apt('apt-get', ...patient, 'install', '-y', '--no-install-recommends', 'chromium')
  }
  const found = findChromium()
  if (found) return found
  throw new Error('These tests need Chromium: install it, or set CHROMIUM to the path of its program.')
}

function apt(...command: string[]) {
  const run = Bun.spawnSync(command, {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  if (run.success) return
  throw new Error(
    `Chromium could not be installed (${command.join(' ')}): set CHROMIUM to the path of one.\n${run.stderr}`,
  )
}

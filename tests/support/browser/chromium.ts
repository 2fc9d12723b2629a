// Where Chromium is on this machine; Debian's package is installed where that is possible.

import { type Browser, chromium } from 'playwright-core'
import { canInstallPackages, installPackage } from '../processes/debian-package.ts'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** An installation takes longer than a test may. */
export const CHROMIUM_INSTALL_MS = 600_000

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
  if (canInstallPackages()) installPackage('chromium', 'set CHROMIUM to the path of one.')
  const found = findChromium()
  if (found) return found
  throw new Error('These tests need Chromium: install it, or set CHROMIUM to the path of its program.')
}

// Starts Chromium. Installs Debian's package where there is none and the tests may install it.

import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { canInstallPackages, installPackage } from '../processes/debian-package.ts'

/** Draws the same pages for two thirds of the processor time. It has no back/forward cache, which full tests need. */
const SHELL = 'chromium-headless-shell'
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

const mayBeShell = () => process.env.TEST_SUITE === 'quick'

/** The language and time zone of the people who use the dashboard. */
export const LOCALE = { locale: 'en-GB', timezoneId: 'Europe/Berlin' }

/** The time limit for hooks that may install Chromium. */
export const CHROMIUM_INSTALL_MS = 600_000

let shared: Browser | undefined
let kept: (KeptWindow & { isTaken: boolean }) | undefined

/**
 * The browser of this process. Test files share it one after another, each with its own windows. It ends with the
 * process, which closes its pipe.
 * @throws when there is no Chromium, with what the user can do
 */
export async function openChromium(): Promise<Browser> {
  if (!shared?.isConnected()) shared = await launchChromium()
  return shared
}

/** Closes windows that a test file has left open, because a page that polls would disturb the next file. */
export async function closeWindows(browser: Browser) {
  if (kept?.isTaken) kept = undefined
  const isLeft = (context: BrowserContext) => context !== kept?.context
  await Promise.all(
    browser
      .contexts()
      .filter(isLeft)
      .map((context) => context.close()),
  )
}

interface KeptWindow {
  context: BrowserContext
  page: Page
}

/**
 * The window that tests of the dashboard use, one after another. It keeps the app in memory: a new window compiles it again,
 * which takes three times as long as all else that loading a page does.
 * @returns undefined while another test has it
 */
export async function takeWindow(browser: Browser): Promise<KeptWindow | undefined> {
  if (kept?.isTaken) return undefined
  if (kept?.page.isClosed() !== false) {
    const context = await browser.newContext(LOCALE)
    kept = { context, page: await context.newPage(), isTaken: true }
  }
  kept.isTaken = true
  return kept
}

/** @param origin of a site that has an address without a page. On the same site, the window keeps its process. */
export async function giveWindowBack({ context, page }: KeptWindow, origin: string) {
  page.removeAllListeners()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  // A form that was not saved asks before it is left.
  page.once('dialog', (dialog) => dialog.accept())
  await page.goto(`${origin}/robots.txt`)
  await page.evaluate('localStorage.clear(); sessionStorage.clear()')
  page.removeAllListeners()
  await context.clearCookies()
  await context.clearPermissions()
  if (kept?.page === page) kept.isTaken = false
}

async function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: getChromium(),
    args: [
      // Names under .test lead to this machine.
      '--host-resolver-rules=MAP *.test 127.0.0.1',
      // Tests are too short for the optimizing compiler.
      '--disable-gpu',
      '--js-flags=--single-threaded --no-opt',
    ],
    // Playwright switches off the back/forward cache, which some tests need.
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  })
}

export function findChromium(): string | undefined {
  const names = mayBeShell() ? [SHELL, ...NAMES] : NAMES
  return (
    process.env.CHROMIUM ?? names.map((name) => Bun.which(name)).find((path) => path !== null) ?? undefined
  )
}

/**
 * Installs the Debian package if needed.
 * @returns the path of the program
 * @throws when Chromium is missing and cannot be installed
 */
export function getChromium(): string {
  const present = findChromium()
  if (present) return present
  if (canInstallPackages()) installOne()
  const found = findChromium()
  if (found) return found
  throw new Error('These tests need Chromium: install it, or set CHROMIUM to the path of its program.')
}

function installOne() {
  const alternative = 'set CHROMIUM to the path of a Chromium.'
  if (!mayBeShell()) return installPackage('chromium', alternative)
  try {
    installPackage(SHELL, alternative)
  } catch {
    // A distribution without the shell.
    installPackage('chromium', alternative)
  }
}

// Takes the pictures of README.md and docs/using.md: `npm run docs:pictures` starts a server with the company of
// `towpath demo`, and visits its dashboard in Chromium.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { LOCALE, openChromium } from '../browser/chromium.ts'
import { waitUntilDrawn } from '../browser/dashboard-browser.ts'
import { towpath } from '../processes/command-shell.ts'
import { findFreePort } from '../processes/free-port.ts'
import { until } from '../until.ts'

const ROOT = join(import.meta.dir, '../../..')
const IMAGES = join(ROOT, 'docs/images')
const ORIGIN = 'http://go.larkfield.example'
const SIZE = { width: 1280, height: 800 }

interface Picture {
  name: string
  path: string
  dark?: boolean
  /** What a person does before the picture is taken. */
  act?: (page: Page) => Promise<unknown>
}

const follow = (name: RegExp) => (page: Page) => page.getByRole('link', { name }).first().click()

/** @param names of the links that are followed after the first one */
const followTo =
  (first: RegExp, ...names: string[]) =>
  async (page: Page) => {
    await follow(first)(page)
    for (const name of names) await page.getByRole('main').getByRole('link', { name, exact: true }).click()
  }

const PICTURES: Picture[] = [
  { name: 'analytics', path: '/analytics' },
  { name: 'inbox', path: '/inbox', act: (page) => page.keyboard.press('j') },
  { name: 'links', path: '/links' },
  { name: 'new-link', path: '/links', act: (page) => page.getByRole('button', { name: 'New link' }).click() },
  { name: 'link-dark', path: '/links', dark: true, act: follow(/spring-blend/) },
  { name: 'forms', path: '/forms', act: follow(/Contact/) },
  { name: 'form-gallery', path: '/forms', act: followTo(/Contact/, 'Gallery') },
  { name: 'form-settings', path: '/forms', act: followTo(/Contact/, 'Settings', 'After sending') },
  { name: 'notifications', path: '/notifications' },
]

async function startDemo(dataDir: string) {
  const port = findFreePort()
  const env = { DATA_DIR: dataDir, PORT: String(port), HOST: '127.0.0.1', TOWPATH_URL: ORIGIN }
  const server = Bun.spawn([join(ROOT, 'node_modules/.bin/bun'), 'server/main.ts'], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdout: 'ignore',
    stderr: 'inherit',
  })
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
  await until('the server is ready', isReady, 60_000)
  const demo = await towpath(env, ['demo'])
  const [, email] = /Sign in {3}(\S+)\n/.exec(demo.out) ?? []
  const [, password] = /Password {2}(\S+)/.exec(demo.out) ?? []
  if (email === undefined || password === undefined) throw new Error(`no demo: ${demo.out}${demo.err}`)
  return { port, email, password, server }
}

type Demo = Awaited<ReturnType<typeof startDemo>>

/** The server is the proxy for its own address, which DNS does not have. @returns the address of the workspace */
async function signIn(browser: Browser, { port, email, password }: Demo) {
  const context = await browser.newContext({
    ...LOCALE,
    viewport: SIZE,
    proxy: { server: `http://127.0.0.1:${port}` },
  })
  const page = await context.newPage()
  await page.goto(`${ORIGIN}/app`)
  await page.getByLabel(/email/i).first().fill(email)
  await page
    .getByLabel(/password/i)
    .first()
    .fill(password)
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/app\/\d+/)
  await waitUntilDrawn(page)
  return { page, workspace: /^.*\/app\/\d+/.exec(page.url())?.[0] ?? '' }
}

async function takePicture(page: Page, workspace: string, { name, path, dark, act }: Picture) {
  await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light', reducedMotion: 'reduce' })
  await page.goto(workspace + path)
  await waitUntilDrawn(page)
  await act?.(page)
  await page.waitForLoadState('networkidle')
  await waitUntilDrawn(page)
  await page.screenshot({ path: join(IMAGES, `${name}.png`), animations: 'disabled' })
  process.stdout.write(`docs/images/${name}.png\n`)
}

const dataDir = await mkdtemp(join(tmpdir(), 'towpath-pictures-'))
const demo = await startDemo(dataDir)
try {
  const browser = await openChromium()
  const { page, workspace } = await signIn(browser, demo)
  for (const picture of PICTURES) await takePicture(page, workspace, picture)
  await browser.close()
} finally {
  demo.server.kill()
  await demo.server.exited
  await rm(dataDir, { recursive: true, force: true })
}

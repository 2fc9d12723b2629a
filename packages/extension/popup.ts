// The popup: shortens the open tab, and shows the short link, its QR code and the last ten links.

import { browserApi } from './browser-api.ts'
import { type Connection, readConnection, toHostPermission } from './connection.ts'
import { createElement, getElement, toSentence } from './elements.ts'
import { listRecentLinks, loadQr, type ShortLink, shorten } from './server-api.ts'

const result = getElement('result')

const openSettings = () => browserApi.runtime.openOptionsPage().then(() => window.close())

function showMessage(text: string, action?: { label: string; run: () => unknown }) {
  const button = action && createElement('button', { textContent: action.label, onclick: action.run })
  result.replaceChildren(
    createElement('p', { textContent: text, role: 'alert' }),
    ...(button ? [button] : []),
  )
}

const createCopyButton = (text: string) =>
  createElement('button', {
    textContent: 'Copy',
    ariaLabel: `Copy ${text}`,
    async onclick() {
      const button = this as HTMLButtonElement
      const word = await navigator.clipboard.writeText(text).then(
        () => 'Copied',
        () => 'Not copied',
      )
      Object.assign(button, { textContent: word, ariaLabel: `${word} ${text}` })
    },
  })

const createLinkAnchor = ({ shortUrl }: ShortLink) =>
  createElement('a', {
    href: shortUrl,
    target: '_blank',
    rel: 'noreferrer',
    textContent: shortUrl.replace(/^https?:\/\//, ''),
  })

async function showLink(connection: Connection, link: ShortLink) {
  const copy = createCopyButton(link.shortUrl)
  copy.className = 'primary'
  const code = createElement('img', { alt: `QR code of ${link.shortUrl}`, width: 160, height: 160 })
  result.replaceChildren(
    createElement('p', { className: 'short' }, createLinkAnchor(link)),
    createElement('p', { className: 'destination', textContent: link.destinationUrl }),
    copy,
    code,
  )
  copy.focus()
  try {
    code.src = await loadQr(connection, link)
  } catch (error) {
    code.replaceWith(createElement('p', { textContent: toSentence(error) }))
  }
}

async function showRecentLinks(connection: Connection) {
  const links = await listRecentLinks(connection)
  getElement('recent').hidden = links.length === 0
  getElement('links').replaceChildren(
    ...links.map((link) =>
      createElement(
        'li',
        {},
        createElement(
          'div',
          {},
          createLinkAnchor(link),
          createElement('p', { className: 'destination', textContent: link.destinationUrl }),
        ),
        createCopyButton(link.shortUrl),
      ),
    ),
  )
}

async function findTabUrl(): Promise<string | undefined> {
  const [tab] = await browserApi.tabs.query({ active: true, currentWindow: true })
  return /^https?:\/\//.test(tab?.url ?? '') ? tab?.url : undefined
}

async function shortenTab(connection: Connection) {
  const url = await findTabUrl()
  if (url === undefined) showMessage('This tab has no web address that can be shortened.')
  else await showLink(connection, await shorten(connection, url))
}

async function start() {
  const connection = await readConnection()
  if (!connection) {
    showMessage('Connect the extension to your server first.', { label: 'Connect', run: openSettings })
    return
  }
  const permission = toHostPermission(connection.origin)
  if (!(await browserApi.permissions.contains(permission))) {
    const run = () =>
      browserApi.permissions.request(permission).then((isAllowed) => (isAllowed ? start() : undefined))
    const { host } = new URL(connection.origin)
    showMessage(`The browser does not let the extension reach ${host}.`, { label: `Allow ${host}`, run })
    return
  }
  try {
    await shortenTab(connection)
  } catch (error) {
    showMessage(toSentence(error), { label: 'Settings', run: openSettings })
  }
  // A key without the read scope still gets the short link.
  await showRecentLinks(connection).catch(() => undefined)
}

getElement('settings').onclick = openSettings
void start()

// The settings: the server's address and the API key. Nothing is kept before the server has accepted the key.

import { browserApi } from './browser-api.ts'
import { parseOrigin, readConnection, saveConnection, toHostPermission } from './connection.ts'
import { getElement, toSentence } from './elements.ts'
import { findWorkspaceName } from './server-api.ts'

const address = getElement<HTMLInputElement>('address')
const apiKey = getElement<HTMLInputElement>('key')
const status = getElement('status')
const save = getElement<HTMLButtonElement>('save')

function show(text: string, isError = false) {
  status.textContent = text
  status.className = isError ? 'error' : ''
}

/** Called in the press itself: the browser asks the person for the host then, and only then. */
async function connect(): Promise<string> {
  const origin = parseOrigin(address.value)
  if (origin === undefined) throw new Error('Enter the address of your server, such as https://go.example.')
  const key = apiKey.value.trim()
  if (!/^tp_\w+$/.test(key)) throw new Error('Enter an API key: tp_… Settings > API Keys makes one.')
  const { host } = new URL(origin)
  if (!(await browserApi.permissions.request(toHostPermission(origin))))
    throw new Error(`The extension needs your permission to reach ${host}.`)
  show(`Asking ${host} …`)
  const connection = { origin, apiKey: key }
  const name = await findWorkspaceName(connection)
  await saveConnection(connection)
  address.value = origin
  const warning = origin.startsWith('http:') ? ' Without https, others on the network can read the key.' : ''
  return `Connected to the workspace ${name} on ${host}.${warning}`
}

getElement('form').addEventListener('submit', (event) => {
  event.preventDefault()
  save.disabled = true
  connect()
    .then(show, (error) => show(toSentence(error), true))
    .finally(() => {
      save.disabled = false
    })
})

const known = await readConnection()
address.value = known?.origin ?? ''
apiKey.value = known?.apiKey ?? ''

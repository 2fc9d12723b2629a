// Starts Swagger UI on /docs: only a key signs in, operations for people cannot be tried, and accessibility is
// improved. A separate file, because the page's policy allows no inline script.

const METHODS = ['get', 'post', 'put', 'patch', 'delete']
const ONLY_PEOPLE = 'Only for people who are signed in to the dashboard: an API key may not do this.'

const page = document.querySelector('#reference')

const dark = matchMedia('(prefers-color-scheme: dark)')
const followTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', followTheme)
followTheme()

const listOperations = (api) =>
  Object.entries(api.paths).flatMap(([path, methods]) =>
    METHODS.filter((method) => method in methods).map((method) => ({
      name: `${method} ${path}`,
      operation: methods[method],
    })),
  )

/**
 * Changes the document for this page: requests go to this page's own server, an API key is the only way to sign in, and a
 * filter that may be left out is not filled in, because its example would hide what a workspace has.
 * @returns the operations that a key may call
 */
function prepare(api) {
  delete api.servers
  const { apiKey } = api.components.securitySchemes
  apiKey.description =
    'Paste the key as it is, without a word before it: tp_…  Settings > API Keys makes one.'
  api.components.securitySchemes = { apiKey }
  const forKeys = new Set()
  for (const { name, operation } of listOperations(api)) {
    operation.security = (operation.security ?? []).filter((way) => 'apiKey' in way)
    if (operation.security.length > 0) forKeys.add(name)
    else operation.description = [ONLY_PEOPLE, operation.description].filter(Boolean).join('\n\n')
    for (const parameter of operation.parameters ?? []) moveExample(parameter)
  }
  return forKeys
}

function moveExample(parameter) {
  const { schema = {} } = parameter
  const example = parameter.example ?? schema.example
  if (parameter.required || example === undefined) return
  parameter.description = [parameter.description, `Such as \`${example}\``].filter(Boolean).join('. ')
  delete parameter.example
  delete schema.example
}

/** Somebody may paste the whole header. The cookie of a dashboard in the same browser plays no part. */
function sendKeyOnly(request) {
  const sent = request.headers?.Authorization
  if (sent) request.headers.Authorization = sent.replace(/^Bearer\s+(?:Bearer\s+)+/i, 'Bearer ')
  request.credentials = 'omit'
  return request
}

const createPlugin =
  (forKeys) =>
  ({ React }) => ({
    // Removes the link inside the button of each operation, because a nested link is hard to reach. The address still
    // changes with the opened operation.
    wrapComponents: {
      DeepLink:
        () =>
        ({ text }) =>
          React.createElement('span', null, text),
    },
    statePlugins: {
      spec: {
        wrapSelectors: { allowTryItOutFor: () => (_state, path, method) => forKeys.has(`${method} ${path}`) },
      },
    },
  })

/** Fixes Swagger UI's elements after each rendering. */
function repair() {
  set('.close-modal', 'aria-label', 'Close')
  set('textarea.body-param__text', 'aria-label', 'Request body')
  set('.microlight, .body-param__example', 'tabindex', '0')
  for (const row of page.querySelectorAll('tr[data-param-name]')) {
    for (const control of row.querySelectorAll('select, input:not([type=checkbox]), textarea'))
      control.setAttribute('aria-label', row.dataset.paramName)
  }
  // The hidden name differs from the text on the button, and voice control goes by the text.
  for (const button of page.querySelectorAll('.modal-btn[aria-label]')) button.removeAttribute('aria-label')
  const dialog = page.querySelector('.dialog-ux .modal-ux')
  if (dialog && !dialog.hasAttribute('role')) openDialog(dialog)
}

function set(selector, name, value) {
  for (const element of page.querySelectorAll(selector))
    if (element.getAttribute(name) !== value) element.setAttribute(name, value)
}

/** Focus goes into the dialog and comes back to where it was; Escape closes it. */
function openDialog(dialog) {
  const before = document.activeElement
  dialog.setAttribute('role', 'dialog')
  dialog.setAttribute('aria-modal', 'true')
  dialog.setAttribute('aria-label', 'Authorize')
  dialog.querySelector('input, .btn-done')?.focus()
  dialog.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') dialog.querySelector('.close-modal').click()
  })
  const watch = new MutationObserver(() => {
    if (dialog.isConnected) return
    watch.disconnect()
    before?.focus()
  })
  watch.observe(page, { childList: true, subtree: true })
}

/** The API in some 10,000 characters, for the question to an assistant: the document itself has forty times as many. */
function summarize(api, forKeys) {
  const operations = listOperations(api).filter(({ name }) => forKeys.has(name))
  const lines = operations.map(({ name, operation }) => {
    const query = (operation.parameters ?? []).filter((each) => each.in === 'query').map((each) => each.name)
    const [method, path] = name.split(' ')
    return `- ${method.toUpperCase()} ${path}${query.length > 0 ? ` ?${query.join(',')}` : ''}: ${operation.summary}`
  })
  return `# ${api.info.title} ${api.info.version} at ${location.origin}

${api.info.description.replaceAll('](/', `](${location.origin}/`)}

Lists take \`limit\` (1 to 100) and \`cursor\`, and answer \`{data, nextCursor, total}\`. At 429, wait as \`Retry-After\` says.
The fields of every request and answer: ${location.origin}/v1/openapi.json
Tools for assistants (MCP, the same key): ${location.origin}/mcp

## Operations

${lines.join('\n')}
`
}

function addCopyButton(text) {
  if (!navigator.clipboard) return
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy for your assistant'
  button.addEventListener('click', async () => {
    const copied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
    button.textContent = copied ? 'Copied' : 'Not copied'
    setTimeout(() => {
      button.textContent = 'Copy for your assistant'
    }, 2000)
  })
  document.querySelector('nav').append(button)
}

async function start() {
  const answer = await fetch('/v1/openapi.json')
  if (!answer.ok) throw new Error(String(answer.status))
  const api = await answer.json()
  const forKeys = prepare(api)
  addCopyButton(summarize(api, forKeys))
  const plugin = createPlugin(forKeys)
  new MutationObserver(repair).observe(page, { childList: true, subtree: true })
  window.SwaggerUIBundle({
    spec: api,
    domNode: page,
    plugins: [plugin],
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: -1,
    // Colors of the page instead of a picture of a black terminal: they have the contrast that people need.
    syntaxHighlight: false,
    requestInterceptor: sendKeyOnly,
    persistAuthorization: false,
    validatorUrl: null,
  })
}

start().catch(() => {
  page.querySelector('.wait').textContent = 'The description of the API could not be loaded. Reload the page.'
})

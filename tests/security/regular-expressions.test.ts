import { beforeAll, expect, test } from 'bun:test'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type CallExpression, type NewExpression, parseSync, Visitor } from 'oxc-parser'
import type { Diagnostics, Parameters } from 'recheck'
import { ROOT, readCheckout } from '../support/architecture/read-checkout.ts'
import { full, quick } from '../support/suite.ts'

// Its plain JavaScript. The package itself prefers a binary where there is one.
const { checkSync }: Pick<typeof import('recheck'), 'checkSync'> = createRequire(import.meta.url)(
  'recheck/lib/browser.js',
)

/** Bounds of work, and none of time: a slow machine finds the same. Larger automata are searched at random, by one seed. */
const LIMITS: Parameters = {
  timeout: null,
  attackTimeout: null,
  incubationTimeout: null,
  seedingTimeout: null,
  maxNFASize: 3_000,
  attackLimit: 200_000,
  incubationLimit: 5_000,
  maxIteration: 2,
  maxGenerationSize: 20,
  maxInitialGenerationSize: 50,
  mutationSize: 10,
  crossoverSize: 5,
  maxAttackStringSize: 20_000,
  maxGeneStringSize: 500,
}

/** Patterns whose time grows with a power of their text, with what bounds the text. */
const POLYNOMIAL: [file: string, pattern: string, bound: string][] = [
  [
    'dashboard/bundle-icons.ts',
    String.raw`/import \{([^}]*)\} from 'lucide-react'/g`,
    'our own source, at the build',
  ],
  [
    'dashboard/bundle.ts',
    String.raw`/url\(([^)]*)\) format\([^)]*\)/g`,
    'our own style sheets, at the build',
  ],
  [
    'dashboard/pages/forms/gallery/draw-markup.ts',
    String.raw`/<!--.*?-->|<(\/?)([a-z][a-z\d]*)((?:"[^"]*"|[^">])*)>|[^<]+/gs`,
    'our own examples, in the browser',
  ],
  [
    'dashboard/pages/inbox/state/reply-text.ts',
    String.raw`/\{\{\s*([^{}\r\n]{1,256}?)\s*\}\}/g`,
    "the team's own template, in the browser",
  ],
  ['dashboard/texts/find-messages.ts', String.raw`/[ \t]+$/`, 'our own texts, at the build'],
  [
    'dashboard/texts/text-rules.ts',
    String.raw`/[[\];]|\b[\w-]+:[\w-]|\w--?\w+-|\w! |\w!$/`,
    'our own texts, in tests',
  ],
  [
    'dashboard/texts/text-rules.ts',
    String.raw`/\b(?:https?|mailto|tel|sms):\S*|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\b[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|example|local)\b(?:\/\S*)?|\b[\w]+[_=][\w=-]*|\[[\w-]+\]\S*|\{\d+\}\/\w+|\b(?:[a-z]+\.)+(?=\{\d+\})|^(?:[a-z]+\.)+$|\bTowpath\b|\\\{\\\{[^}]*\\\}\\\}|\\.|<\/?\d+\/?>|\{\d+\}/g`,
    'our own texts, in tests',
  ],
  [
    'dashboard/ui/copy/highlight-code.ts',
    String.raw`/(?<comment><!--.*?-->)|(?<tag><\/?[a-z][a-z\d]*|\/?>)|(?<string>"[^"]*")|(?<name>[\w:-]+(?==")|\s(?:required|multiple|defer)\b)/gis`,
    'our own examples, in the browser',
  ],
  [
    'dashboard/ui/copy/highlight-code.ts',
    String.raw`/(?<comment>\/\*.*?\*\/)|(?<string>"[^"]*")|(?<name>[\w-]+(?=: ))/gs`,
    'our own examples, in the browser',
  ],
  [
    'dashboard/ui/copy/highlight-code.ts',
    String.raw`/<!--.*?-->|<\/?[a-z](?:"[^"]*"|[^">])*>/gis`,
    'our own examples, in the browser',
  ],
  [
    'server/features/forms/page-check/list-field-labels.ts',
    '/(?:\\s*(?:[*:：†]|\\((?:required|optional)\\)))+$/i',
    'LABEL_TEXT_MAX characters of a label',
  ],
  ['server/features/notify/presets/schema.ts', String.raw`/"\{\{=(.*?)\}\}"/g`, 'our own presets'],
  ['dashboard/pages/forms/form-examples.ts', '/<input([^>]*)>/g', 'an example of ours with names of fields'],
  ['dashboard/pages/forms/page-check.tsx', '/<[a-z/].*>/is', 'a sentence of ours, in the browser'],
  [
    'dashboard/pages/forms/settings/groups/reply-group.tsx',
    '/\\{\\{\\s*([^{}]*?)\\s*\\}\\}/g',
    "the owner's own reply in the owner's browser",
  ],
  [
    'dashboard/pages/transfer/detail/import-rows.tsx',
    '/^[a-z]+[a-zA-Z]*$/',
    "the name of a column, in the browser of the file's owner",
  ],
  [
    'server/config/observability-settings.ts',
    "/^\\s*([\\w!#$%&'*+.^`|~-]+)\\s*=\\s*([!-~]*)\\s*$/",
    "the operator's setting",
  ],
  ['server/config/observability-settings.ts', '/^\\d*\\.?\\d+$/', "the operator's setting"],
  [
    'server/features/accounts/auth/common-passwords.ts',
    '/^[^\\p{L}@$]+|[^\\p{L}@$]+$/gu',
    'PASSWORD_MAX, 128 characters: 0.01 ms',
  ],
  ['server/features/forms/replies/mailbox.ts', '/(?<=.)\\+.*$/', 'EMAIL_MAX, 254 characters: 0.03 ms'],
  ['server/features/forms/spam/check-rules.ts', '/\\*+ $/', 'RULE_MAX, 200 characters: 0.01 ms'],
  [
    'server/features/forms/uploads/file-name.ts',
    '/^[. ]+|[. ]+$/g',
    'the last 1,020 characters of a name: 0.5 ms',
  ],
  [
    'server/features/transfer/history/country-code.ts',
    '/\\s*\\(.*\\)$/',
    'the names of countries that come with the runtime',
  ],
  ['server/http/route-table.ts', '/\\{[^}]*\\}|:[^/]+/g', 'the routes of this server'],
  [
    'server/lib/html/read-html.ts',
    '/<meta\\s[^>]*charset\\s*=\\s*["\']?\\s*([\\w-]+)/i',
    'META_BYTES, the first 1,024 bytes of a page: 0.02 ms',
  ],
  [
    'server/storage/files/bucket-client.ts',
    '/<Contents>([\\s\\S]*?)<\\/Contents>/g',
    "1,000 objects of the operator's bucket: 3 ms",
  ],
  [
    'server/storage/hits/duckdb/open-file.ts',
    '/no space left|disk quota|file too large|out of memory(?!.*replaying wal.*allocation failure)|failed to allocate/i',
    'an error message of the engine',
  ],
  [
    'dashboard/ui/forms/strip-around-url.ts',
    '/^[\\s<>`\\p{QMark}\\u200b]+|[\\s<>`\\p{QMark}\\u200b]+$/gu',
    "the owner's own text, in the owner's browser",
  ],
  ['dashboard/shell/use-palette-entries.ts', '/[?#].*$/', "the person's own text, in the person's browser"],
  ['server/lib/money/amount.ts', '/0+$/', 'the places of a currency: at most six digits'],
  [
    'server/features/visitors/find-device.ts',
    '/\\bTV\\b|[-_]?TV[-_]|\\bTV\\d|\\w{2,}TV\\b|Smart-?TV|Google ?TV|Apple ?TV|BRAVIA|\\bRoku|CrKey|\\bAFT[A-Z]|smarttv|HbbTV|CE-HTML|NETTV|NetCast|\\bVIDAA\\b|Web0S|webOS\\.TV|ViziOS|VIZIO|WatchFree|AQUOS|VIERA|TiVo|Opera TV|OPR\\/.*OMI\\/|\\bMaple\\d|(?:\\b|_|K)STB(?:\\d*\\b|_)|^Cinnamon\\/|\\bMB\\d+\\/\\d|\\(Sky, |\\.bd\\.|#TCL\\/|\\(Astro;|^opera\\/9\\.80,|, wire(?:d|less)\\)|;Wired\\)|BrightSign|Chromecast|\\bGibbon\\/|TiviMate|\\bKodi\\/|\\bXBMC\\/|\\bMiTV|\\bMiBOX|Shield Android/i',
    'USER_AGENT_MAX, 512 characters',
  ],
  [
    'server/features/visitors/is-bot.ts',
    '/MicroMessenger\\/|QQBrowser|Sogou(?:M|Search|Android)|UCBrowser|UCWEB|YaBrowser\\/|Instagram|FBAN|FBAV|AlipayDefined|Weibo|^LG Browser|\\bOpenTV\\b|BDPlayer|HbbTV|CE-HTML|NETTV|SMART-?TV|GoogleTV|Apple ?TV|VIDAA|RokuOS|^Cinnamon\\/|^opera\\/9|^smarttv_|^Amazon;AFT|TV(?:Black)?Android|FOMA|DoCoMo|DDIPOCKET|WILLCOM|^SonyEricsson|Sleipnir\\/|w3m\\/|Dillo|BrowseX|OffByOne|AlphaServer|^CitrixReceiver|NetSurf\\/|Konqueror\\/|Avant Browser|Instapaper\\/|Bada\\/|SAMSUNG-|MIDP|MAUI|\\bWAP\\b|BREW|webOS\\/|Windows Phone|PalmSource|^iPhone|^Apple-iP|^nook|pr\\(UCB|^Karbonn|com\\.google\\.(?:android|Maps|GooglePlus)|^AndroidDownloadManager|^\\d\\.\\d\\.\\d \\(Linux; U; Android|Android \\d[\\d.]*; .*\\bBuild\\/|iP(?:ad|hone)OS\\/|\\bIOS i?phone|Freesat/i',
    'USER_AGENT_MAX, 512 characters',
  ],
  [
    'server/storage/clients/client-names.ts',
    '/\\bAndroid\\b.*\\bAppleWebKit\\b|\\bDalvik\\//',
    'USER_AGENT_MAX, 512 characters',
  ],
  [
    'server/storage/clients/client-names.ts',
    '/\\bSafari\\b|\\b(?:iPhone|iPad|iPod|Macintosh)\\b.*\\bAppleWebKit\\//',
    'USER_AGENT_MAX, 512 characters',
  ],
  [
    'server/storage/clients/client-names.ts',
    '/\\biPad(?![a-z])|\\bMacintosh;.*\\bMobile\\//',
    'USER_AGENT_MAX, 512 characters',
  ],
  [
    'server/storage/clients/client-names.ts',
    '/^Mozilla\\/5\\.0 \\((?:Mobile|Tablet);(?!.*\\bAndroid\\b).*\\bGecko\\/.*\\bFirefox\\//',
    'USER_AGENT_MAX, 512 characters',
  ],
  ['snippet/script-site.ts', '/[^/]*$/', "the address of the snippet, in the page's own markup"],
]

/** Patterns that the checker cannot read: it knows no `v`. Each matches one character, or one of a list. */
const UNREADABLE = [
  '/(?:[0-9*](?=\\u20e3)|[\\p{Emoji}--\\p{Emoji_Presentation}--[0-9*#]](?!\\p{Emoji_Modifier}))/gv',
  '/[\\p{RGI_Emoji}--\\q{#\\ufe0f\\u20e3}]/gv',
]

/** Files that make patterns while they run, and from what. */
const MADE_LATER: Record<string, string> = {
  'dashboard/bundle-texts.ts': 'names of our files',
  'dashboard/api/error-translator.ts': 'messages of the API, whose values are bounded',
  'dashboard/pages/forms/form-controls.ts':
    "the rule of a form, in its owner's browser: only whether it can be read",
  'dashboard/ui/copy/highlight-code.ts': 'our own examples, in the browser',
  'server/features/accounts/auth/setup-access.ts': 'the name of a cookie of ours',
  'server/features/notify/channels/service-response.ts': 'escaped texts',
  'server/http/route-table.ts': 'the routes of this server, whose parameters end at a slash',
  'server/web/dashboard.ts': 'the routes of the dashboard, whose parameters end at a slash',
  'server/storage/files/bucket-client.ts': 'names of elements, whose content ends at the next bracket',
}

interface Pattern {
  file: string
  written: string
}

const patterns: Pattern[] = []
let made: Pattern[] = []
const makers = new Set<string>()

/** Prints the patterns that files of ours make with `new RegExp` while they are imported. */
const REPORT_MADE = `
  const Original = RegExp
  const made = new Set()
  globalThis.RegExp = new Proxy(Original, {
    construct(target, args, maker) {
      const pattern = Reflect.construct(target, args, maker === RegExp ? Original : maker)
      const caller = new Error().stack.split('\\n').find((line) => line.includes(process.cwd() + '/server/')) ?? ''
      const file = /(server\\/[\\w./-]+\\.ts):/.exec(caller.replace(process.cwd(), ''))?.[1]
      if (file) made.add(JSON.stringify({ file, written: String(pattern) }))
      return pattern
    },
  })
  for (const path of process.argv.slice(1)) await import(path)
  console.log('[' + [...made].join() + ']')
  process.exit(0)`

async function listMade(): Promise<Pattern[]> {
  const paths = [...makers].filter((path) => path.startsWith('server/')).map((path) => join(ROOT, path))
  const child = Bun.spawn([process.execPath, '-e', REPORT_MADE, ...paths], { cwd: ROOT, stderr: 'inherit' })
  return JSON.parse(await new Response(child.stdout).text())
}

beforeAll(async () => {
  for (const { path, text } of await readCheckout()) {
    if (!/^(?:server|snippet|dashboard)\/.*\.tsx?$/.test(path) || /\.(?:test|fixture)\.tsx?$/.test(path))
      continue
    const noteMaker = ({ callee }: NewExpression | CallExpression) => {
      if (callee.type === 'Identifier' && callee.name === 'RegExp') makers.add(path)
    }
    new Visitor({
      Literal(node) {
        if ('regex' in node) patterns.push({ file: path, written: text.slice(node.start, node.end) })
      },
      NewExpression: noteMaker,
      CallExpression: noteMaker,
    }).visit(parseSync(path, text).program)
  }
  made = await listMade()
})

function check(written: string): Diagnostics {
  const end = written.lastIndexOf('/')
  return checkSync(written.slice(1, end), written.slice(end + 1), LIMITS)
}

/** A time doubles with each character only where a repeated group repeats something. */
const mayDouble = ({ written }: Pattern) => /\)(?:[*+]|\{\d+,\})/.test(written)

quick('no pattern with a repeated group takes a time that doubles with each character', () => {
  const grouped = [...patterns, ...made].filter(mayDouble)
  expect(grouped.length).toBeGreaterThan(15)
  const isDoubling = (diagnostics: Diagnostics) =>
    diagnostics.status === 'vulnerable' && diagnostics.complexity.type === 'exponential'
  expect(grouped.filter(({ written }) => isDoubling(check(written)))).toEqual([])
})

full(
  'no pattern takes a time that doubles with each character, and those with a power have a bounded text',
  () => {
    expect(patterns.length).toBeGreaterThan(700)
    const found = { exponential: [] as string[], polynomial: [] as string[], unreadable: [] as string[] }
    const known = new Map<string, Diagnostics>()
    for (const { file, written } of [...patterns, ...made]) {
      const diagnostics = known.get(written) ?? check(written)
      known.set(written, diagnostics)
      if (diagnostics.status === 'unknown') found.unreadable.push(written)
      else if (diagnostics.status === 'vulnerable')
        found[diagnostics.complexity.type].push(`${file} ${written}`)
    }
    expect(found.exponential).toEqual([])
    // An entry that no file needs any more fails here too.
    expect([...new Set(found.polynomial)].sort()).toEqual(
      POLYNOMIAL.map(([file, pattern]) => `${file} ${pattern}`).sort(),
    )
    expect([...new Set(found.unreadable)].sort()).toEqual([...UNREADABLE].sort())
  },
  600_000,
)

test('the patterns that files make are checked, or are known to be made later', () => {
  const checked = new Set(made.map(({ file }) => file))
  expect([...makers].filter((file) => !checked.has(file) && !(file in MADE_LATER))).toEqual([])
  expect(Object.keys(MADE_LATER).filter((file) => !makers.has(file))).toEqual([])
})

test('the checker finds a pattern that doubles, and one that squares', () => {
  const types = [String.raw`/^(?:\s|--[^\n]*\n|\/\*[\s\S]*?\*\/;?)*(?:CREATE|INSERT)\b/i`, '/a+$/', '/^a+$/']
    .map(check)
    .map((diagnostics) =>
      diagnostics.status === 'unknown' ? diagnostics.status : diagnostics.complexity.type,
    )
  expect(types).toEqual(['exponential', 'polynomial', 'linear'])
})

// Names of API fields as the screens call them, so that no person reads `destinationUrl`.

/** Labels of fields that differ from the field's name. */
const SCREEN_NAMES: Record<string, string> = {
  slug: 'Short link',
  tagIds: 'Tags',
  tagNames: 'Tags',
  startsAt: 'Starts',
  expiresAt: 'Expires',
  expiredUrl: 'Expiration URL',
  split: 'Split test',
  splitEndsAt: 'Split test ends',
  forwardQuery: 'Forward query parameters',
  extraPath: 'Append extra path',
  publicStats: 'Public statistics',
  geoTargeting: 'Countries',
  deviceTargeting: 'Devices',
  previewTitle: 'Card title',
  previewDescription: 'Card description',
  previewImage: 'Card image',
  ios: 'iPhone and iPad',
  channelIds: 'Channels',
  email: 'Email',
  newEmail: 'New email address',
  to: 'Email addresses',
  perAddress: 'Submissions per minute from one IP address',
  nextHosts: 'Allowed hosts for _next',
  minLength: 'Min characters',
  maxLength: 'Max characters',
  allowedOrigins: 'Allowed sites',
  scopes: 'Access',
  from: 'Dry run',
  source: 'Tool',
  onConflict: 'If a short link is taken',
  domainMap: 'Domains',
  mapping: 'Columns',
  html: 'Page HTML',
  requireTwoFactor: 'Two-factor sign-in',
  assetLinks: 'Android app links',
  appleAppSiteAssociation: 'iOS universal links',
}

const ABBREVIATIONS: Record<string, string> = { url: 'URL', urls: 'URLs', id: 'ID', ids: 'IDs', html: 'HTML' }

/** `Destination URL` for `destinationUrl`, `Devices (iPhone and iPad)` for `deviceTargeting.ios` */
export function toScreenName(field: string): string {
  const [, name = '', part] = /^(?:\d+\.)?([^.[]*)[.[]?([^\].]*)/.exec(field) ?? []
  const screenName = SCREEN_NAMES[name] ?? inWords(name)
  return part && !/^\d+$/.test(part) ? `${screenName} (${SCREEN_NAMES[part] ?? part})` : screenName
}

function inWords(name: string): string {
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .split(/[ _-]+/)
    .map((word) => ABBREVIATIONS[word.toLowerCase()] ?? word.toLowerCase())
  const text = words.join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Replaces the names of fields in a message of the API: `must be after “Starts”`. */
export const withScreenNames = (message: string) =>
  message.replace(/\b[a-z]+(?:[A-Z][a-z]*)+\b/g, (name) => `“${toScreenName(name)}”`)

// The names of DNS records as providers ask for them: without the zone, which they add automatically.

/** Second levels under which names are registered, such as `co.uk`. */
const SECOND_LEVELS = new Set(['ac', 'co', 'com', 'edu', 'go', 'gov', 'ne', 'net', 'or', 'org'])
const COUNTRY = /^[a-z]{2}$/

/** The zone that the domain is probably in: `example.com` for `go.example.com`. Only the owner knows it for certain. */
export function guessZone(domain: string): string {
  const labels = domain.split('.')
  const isThreeLabels =
    labels.length > 2 && COUNTRY.test(labels.at(-1) ?? '') && SECOND_LEVELS.has(labels.at(-2) ?? '')
  return labels.slice(isThreeLabels ? -3 : -2).join('.')
}

/** `_towpath.go` for `_towpath.go.example.com` in the zone `example.com`, `@` for the zone itself. */
export function toRelativeName(name: string, zone: string): string {
  if (name === zone) return '@'
  return name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : name
}

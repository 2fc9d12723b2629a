// Hints on the fields of well-known DNS providers, for people who do this once a year.

const HINTS: [provider: string, hint: string][] = [
  [
    'Cloudflare',
    'DNS > Records > Add record. Set the record for visitors to “DNS only” (gray cloud), or the certificate cannot be made here.',
  ],
  [
    'GoDaddy, Namecheap, IONOS',
    'Enter the short name, without the domain. They add the domain automatically.',
  ],
  ['Route 53', 'Enter the short name. Put the value of the TXT record into double quotes.'],
  ['Zone files', 'Write the short name, or the full name with a dot at its end.'],
]

export const ProviderHints = ({ zone, isApex }: { zone: string; isApex: boolean }) => (
  <details className="rounded-lg border border-line px-3 py-2 text-sm">
    <summary className="font-medium">Where do I set them?</summary>
    <div className="mt-2 grid gap-2 text-soft">
      <p>
        At the company that runs the name servers of <code className="break-all">{zone}</code>: often where
        you bought the name. Look for “DNS”, “Zone” or “Name servers” there.
      </p>
      <ul className="grid list-disc gap-1.5 pl-5">
        {HINTS.map(([provider, hint]) => (
          <li key={provider}>
            <span className="font-medium text-ink">{provider}:</span> {hint}
          </li>
        ))}
        {isApex && (
          <li>
            A domain without a part before it, such as <code className="break-all">{zone}</code>, cannot have
            a CNAME record. Use A and AAAA records, or what your provider calls ALIAS, ANAME or CNAME
            flattening.
          </li>
        )}
      </ul>
    </div>
  </details>
)

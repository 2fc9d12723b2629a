// The most common passwords, by the list of zxcvbn-ts: 49,000 in lower case. The list is loaded when a person first
// chooses a password, because it takes 20 ms and a few megabytes.

let loading: Promise<ReadonlySet<string>> | undefined

export function loadPasswordList(): Promise<ReadonlySet<string>> {
  loading ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set<string>(dictionary['passwords-common'] as Iterable<string>),
  )
  return loading
}

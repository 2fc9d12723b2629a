// Addresses of scripts on pages with `require-trusted-types-for 'script'` (https://w3c.github.io/trusted-types/dist/spec/).

interface Policy {
  createScriptURL(url: string): string
}
interface TrustedTypes {
  createPolicy(name: string, rules: Policy): Policy
}

/** A page may forbid two policies of one name. */
let known: Policy | undefined

/**
 * @param policy the name that the page allows in `trusted-types`; each of our scripts has one
 * @param url one of ours, or Turnstile's
 * @returns the address in the form that browsers want for a script
 */
export function toScriptUrl(policy: string, url: string): string {
  const { trustedTypes } = window as { trustedTypes?: TrustedTypes }
  try {
    known ??= trustedTypes?.createPolicy(policy, { createScriptURL: (text) => text })
  } catch {
    // The page does not allow the policy. It may have one of its own for all addresses.
  }
  return known?.createScriptURL(url) ?? url
}

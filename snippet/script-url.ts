// The form in which a page with `require-trusted-types-for 'script'` takes the address of a script
// (https://w3c.github.io/trusted-types/dist/spec/). Each of our files has a policy of its own name: a page may forbid two
// policies of one name.

export interface ScriptUrlPolicy {
  createScriptURL(url: string): string
}

declare global {
  /** Chromium, Safari and Firefox in their newer versions. */
  const trustedTypes: { createPolicy(name: string, rules: ScriptUrlPolicy): ScriptUrlPolicy }
}

/** The addresses are ours, or Turnstile's. Also used if there is no policy. */
export const ownUrls: ScriptUrlPolicy = { createScriptURL: (url) => url }

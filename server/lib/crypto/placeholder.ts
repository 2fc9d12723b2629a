// Detects a placeholder from a public example instead of a secret.

const PLACEHOLDER = /^(change|replace|your|example|secret|password|placeholder|xxx|todo)|(.)\2{15}/i

/** Whether a secret is the text of an example. */
export const isPlaceholder = (text: string) => PLACEHOLDER.test(text)

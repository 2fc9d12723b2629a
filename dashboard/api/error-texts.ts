// Shows the API's messages, which are English. In the bundles of other languages, bundle-texts.ts replaces this file by a
// translator.

export const translateError = (message: string) => message

/** As many lines as can be told from each other, in their order. */
export const LOOKS = /** @type {const} */ (['first', 'second', 'third', 'fourth', 'fifth']);

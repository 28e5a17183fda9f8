// SPDX-License-Identifier: Apache-2.0

extension Element: Hashable {
    /// Whether the two have the same name, the same attributes in any order, and equal nodes in the same order.
    ///
    /// Does not recurse, however deep the trees are.
    public static func == (left: Element, right: Element) -> Bool {
        var pairs = [(left, right)]
        while let (left, right) = pairs.popLast() {
            if let left = left.parsed, let right = right.parsed, left.isIdentical(to: right) { continue }
            guard left.name == right.name, haveSameAttributes(left, right), left.nodes.count == right.nodes.count else {
                return false
            }
            for (leftNode, rightNode) in zip(left.nodes, right.nodes) {
                switch (leftNode, rightNode) {
                case (.text(let leftText), .text(let rightText)):
                    // By code points: to XML, characters that only look alike are different data.
                    guard leftText.unicodeScalars.elementsEqual(rightText.unicodeScalars) else { return false }
                case (.element(let leftChild), .element(let rightChild)):
                    pairs.append((leftChild, rightChild))
                default:
                    return false
                }
            }
        }
        return true
    }

    private static func haveSameAttributes(_ left: Element, _ right: Element) -> Bool {
        guard left.attributes.count == right.attributes.count else { return false }
        guard left.attributes != right.attributes else { return true }
        return Set(left.attributes) == Set(right.attributes)
    }

    /// Feeds the name, the attributes in any order and the number of nodes; children are left out, which is allowed.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(nodes.count)
        var sum = 0
        for attribute in attributes { sum &+= attribute.hashValue }
        hasher.combine(sum)
    }
}

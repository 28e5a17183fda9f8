// SPDX-License-Identifier: Apache-2.0

/// Values of a plain kind that are put together one by one and then copied as a whole: what an array does, without a
/// reference count to look at for each of them.
struct GrowingBuffer<Value: BitwiseCopyable>: ~Copyable {
    private var storage: UnsafeMutablePointer<Value>
    private var capacity: Int
    /// How many there are.
    private(set) var count = 0

    /// Makes an empty buffer.
    init(capacity: Int = 64) {
        self.capacity = max(capacity, 1)
        storage = .allocate(capacity: self.capacity)
    }

    deinit { storage.deallocate() }

    /// What is there; valid until the next change.
    var contents: UnsafeBufferPointer<Value> { UnsafeBufferPointer(start: storage, count: count) }

    /// One of those that are there.
    subscript(index: Int) -> Value {
        get {
            precondition(index >= 0 && index < count, "a place that the buffer does not have")
            return storage[index]
        }
        set {
            precondition(index >= 0 && index < count, "a place that the buffer does not have")
            storage[index] = newValue
        }
    }

    /// Appends a value.
    @inline(__always)
    mutating func append(_ value: Value) {
        if count == capacity { grow(by: 1) }
        (storage + count).initialize(to: value)
        count += 1
    }

    /// Appends values.
    @inline(__always)
    mutating func append(contentsOf values: UnsafeBufferPointer<Value>) {
        guard let first = values.baseAddress else { return }
        if capacity - count < values.count { grow(by: values.count) }
        (storage + count).initialize(from: first, count: values.count)
        count += values.count
    }

    /// Forgets all values, and the room for more than `kept` of them.
    mutating func removeAll(keepingCapacity kept: Int) {
        count = 0
        if capacity > kept { self = GrowingBuffer() }
    }

    @inline(never)
    private mutating func grow(by more: Int) {
        let larger = UnsafeMutablePointer<Value>.allocate(capacity: max(2 * capacity, count + more))
        larger.moveInitialize(from: storage, count: count)
        storage.deallocate()
        storage = larger
        capacity = max(2 * capacity, count + more)
    }
}
